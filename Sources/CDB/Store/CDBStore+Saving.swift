internal import Files
internal import Locks

extension CDBStore {
  /// Writes a new file with the changes, and replaces the old one, durably.
  ///
  /// Unchanged values are copied without decoding, whether or not a codec can read them.
  ///
  /// Complexity: linear in the file; constant time if nothing has changed.
  ///
  /// - Throws: ``CDBError`` with `notEncodable`, `tooLarge`, `noSpace`, `noPermission`, `ioError`,
  ///   `damaged`, `closed`, `changedElsewhere` if another program has replaced the file, or
  ///   `forked` in a child of the process that created the store. The file is unchanged, all
  ///   changes are kept, and you can save again.
  public func save() throws {
    try checkProcess()
    try state.withLock { state in
      try checkOpen(state)
      try save(&state)
    }
  }

  func save(_ state: inout State) throws {
    if state.changes.isEmpty { return }
    guard try fileIdentity() == state.identity else {
      throw CDBError(
        .changedElsewhere, path: path,
        message: "Saving would undo what another program has saved. Close without saving, by "
          + "discardChanges(), open, and make the changes again.")
    }
    let writer = try CDBWriter(path, format: format, in: fileSystem)
    let identity = try writer.fileIdentity()
    try copyUnchanged(state, to: writer)
    try addChanged(state, to: writer)
    do {
      try writer.finish()
    } catch {
      // The last step can fail after the file is in place: it is as good as the old one.
      if identity != nil, (try? fileIdentity()) == identity { state.identity = identity }
      throw error
    }
    // The old file and the changes are kept until the new file is open: a retry writes both again.
    state.identity = try identity ?? fileIdentity()
    try openFile(&state)
    for (key, change) in state.changes { state.cache[key] = change.value }
    state.changes = [:]
    state.plan.cancel()
  }

  private func copyUnchanged(_ state: State, to writer: CDBWriter) throws {
    try state.reader?.forEach { key, value in
      if state.changes[[UInt8](copying: key)] == nil { try writer.add(value, forKey: key) }
    }
  }

  private func addChanged(_ state: State, to writer: CDBWriter) throws {
    for key in state.changes.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      guard let value = state.changes[key]?.value else { continue }
      let encoded = try encode(value, key)
      try writer.add(pieces: [[encoded.tag], encoded.bytes], forKey: key)
    }
  }

  private func encode(_ value: Value, _ key: [UInt8]) throws -> CDBEncodedValue {
    do {
      return try valueCodec.encode(value)
    } catch {
      throw CDBError(
        .notEncodable, path: path,
        message: "The codec can't write the value: \(error). Change it, and save again.", key: key)
    }
  }

  /// Discards all unsaved changes.
  ///
  /// Complexity: linear in the number of changes.
  public func discardChanges() {
    state.withLock { state in
      state.changes = [:]
      state.plan.cancel()
    }
  }
}
