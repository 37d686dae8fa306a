import Files
public import StoredObjectsCore
import TokyoCabinet
import TokyoCabinetFile

extension TokyoCabinetFiles {
  /// Makes new files with the changes, and brings them to the disk unless the level is `none`.
  ///
  /// Complexity: linear in the sizes of the files, which are copied or written anew, and in the
  /// changes.
  ///
  /// - Throws: `StoreError` with `rowExists`, `full`, `ioError`, `damaged` or `closed`. No new file
  ///   is left then.
  public func prepare(_ changes: ChangeSet, durability: Durability) throws -> [Replacement] {
    var made: [Replacement] = []
    do {
      for target in try targets(of: changes) {
        guard try target.file.isThere() || target.writesAnything else { continue }
        let name = "\(Names.newPrefix)\(made.count)"
        made.append(Replacement(newName: name, name: target.file.name))
        try FilePreparation(
          bytes: changes.bytes, target: target, path: path(name), configuration: configuration,
          testedSizeLimit: testedSizeLimit, isSynced: durability != .none,
          byteOrder: try libraryByteOrder()
        ).run()
      }
      // The log is going to name the new files, so they must be there after a power cut.
      if durability != .none && !made.isEmpty { try synchronizeDirectory() }
      return made
    } catch {
      discard(made)
      throw error
    }
  }

  private func targets(of changes: ChangeSet) throws -> [FilePreparation.Target] {
    var targets: [FilePreparation.Target] = []
    for table in changes.tables where !table.records.isEmpty {
      targets.append(.init(file: try file(table.table), content: .records(table.records)))
    }
    if !changes.names.isEmpty {
      targets.append(.init(file: buffers, content: .names(changes.names)))
    }
    return targets
  }

  private func path(_ name: String) -> String { location + "/" + name }

  /// Gives new files their final names.
  ///
  /// Scans under way keep what they were reading.
  ///
  /// Where the store is open for reading only, nothing is renamed; the new files are read where they
  /// are.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func publish(_ replacements: [Replacement], durability: Durability) throws {
    for replacement in replacements where exists(path(replacement.newName)) {
      let file = try file(of: replacement)
      if isReadOnly {
        file.redirect(to: path(replacement.newName))
        continue
      }
      try file.replace(by: path(replacement.newName))
    }
    if isReadOnly { return }
    if durability != .none { try synchronizeDirectory() }
  }

  private func file(of replacement: Replacement) throws -> TableFile {
    guard replacement.newName.hasPrefix(Names.newPrefix), !replacement.newName.contains("/") else {
      throw StoreError(
        .damaged, "The log names a file that it can't mean.", at: .init(path: location))
    }
    if replacement.name == Names.buffers { return buffers }
    return try file(table(named: replacement.name))
  }

  /// Removes new files that will never be published.
  public func discard(_ replacements: [Replacement]) {
    for replacement in replacements { try? removeFile(path(replacement.newName)) }
  }

  /// Removes what a process has left that died while it made new files.
  public func removeStrays() throws {
    try storeErrors(at: location) {
      for name in try directoryEntries(location) where name.hasPrefix(Names.newPrefix) {
        try removeFile(path(name))
      }
    }
  }

  /// The byte order of the files that the C library reads.
  func libraryByteOrder() throws -> HashFileHeader.ByteOrder {
    try storeErrors(at: location) {
      try HashDatabase.libraryByteOrder(probing: path(Names.newPrefix + "byte-order"))
    }
  }

  /// The size of the files that folding would copy.
  public func byteCount(touchedBy footprint: PendingFootprint) throws -> Int {
    let files = try footprint.tables.map { try file($0) } + (footprint.hasNames ? [buffers] : [])
    return try files.reduce(0) { $0 + (try $1.reading { $0.fileSize } ?? 0) }
  }

  /// The file of the commit log.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func openLog() throws -> (any Storage)? {
    let path = path(Names.log)
    if isReadOnly && !exists(path) { return nil }
    let log = try storeErrors(at: path) { try FileStorage(path, writable: !isReadOnly) }
    // Also for a log that was there: whoever made it may have died before he came to this.
    if !isReadOnly { try synchronizeDirectory() }
    return log
  }
}
