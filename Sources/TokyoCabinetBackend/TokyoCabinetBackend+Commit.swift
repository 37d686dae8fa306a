public import StoredObjectsCore
import Synchronization

extension TokyoCabinetBackend {
  /// Writes a change set, all of it or nothing, and brings it to the disk.
  ///
  /// One commit runs at a time. It waits for look-ups in the tables it touches while those copy their
  /// bytes, not for closures.
  ///
  /// After a commit that failed half-way (the second of two files could not be committed) or whose
  /// bytes could not be brought to the disk, nobody knows what the disk holds: the backend then
  /// refuses further commits with that error, until it is opened again. Reading goes on.
  ///
  /// Complexity: linear in the number of changes and their bytes; two `fsync`s for each class.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `rowExists`, `invalidName` (of a buffer), `full`,
  ///   `ioError`, `damaged` or `closed`.
  public func commit(_ changes: ChangeSet) throws {
    try checkOpen()
    if isReadOnly {
      throw StoreError(.readOnly, "the store is open for reading only", at: .init(path: location))
    }
    for change in changes.names { try Names.check(buffer: change.name) }
    try committing.withLock { state in
      try checkOpen()
      if let failure = state.failure { throw failure }
      let targets = try targets(of: changes)
      for target in targets { target.file.lock.lockForWriting() }
      defer { for target in targets.reversed() { target.file.lock.unlock() } }
      try fold(changes, into: targets, &state)
    }
  }

  /// The files a change set touches.
  ///
  /// Locks are taken in this order, by one commit at a time.
  private func targets(of changes: ChangeSet) throws -> [FileFold.Target] {
    var targets: [FileFold.Target] = []
    for table in changes.tables where !table.records.isEmpty {
      targets.append(.init(file: try file(table.table), content: .records(table.records)))
    }
    if !changes.names.isEmpty {
      targets.append(.init(file: buffers, content: .names(changes.names)))
    }
    return targets
  }

  private func fold(
    _ changes: ChangeSet, into targets: [FileFold.Target], _ state: inout CommitState
  ) throws {
    var fold = FileFold(changes.bytes, targets, configuration, location, testedSizeLimit)
    do {
      try fold.run()
      if fold.hasMadeFiles { try synchronizeDirectory() }
    } catch {
      if fold.isIrreversible {
        state.failure = StoreError(
          .ioError, "a save failed when parts of it were written: close the store and reopen it",
          at: .init(path: location), underlying: error)
        throw state.failure ?? error
      }
      throw error
    }
  }
}
