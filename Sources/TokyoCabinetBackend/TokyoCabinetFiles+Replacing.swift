import Files
public import StoreEngine
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
  public func prepare(
    _ changes: ChangeSet, mark: FileMark, durability: Durability
  ) throws -> [Replacement] {
    var made: [Replacement] = []
    do {
      for target in try targets(of: changes) {
        guard try target.file.isThere() || target.writesAnything else { continue }
        let name = "\(StoreDirectory.newPrefix)\(made.count)"
        made.append(Replacement(newName: name, name: target.file.name, mark: mark))
        try FilePreparation(
          bytes: changes.bytes, target: target, place: directory.file(name),
          rights: directory.rights(ofNew: target.file.fileName), configuration: configuration,
          testedSizeLimit: testedSizeLimit, isSynced: durability != .none,
          mark: mark, isStamped: isEncrypted(),
          byteOrder: try libraryByteOrder()
        ).run()
      }
      // The log is going to name the new files, so they must be there after a power cut.
      if durability != .none && !made.isEmpty { try directory.synchronize() }
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

  /// Gives new files their final names.
  ///
  /// Scans under way keep what they were reading.
  ///
  /// Where the store is open for reading only, nothing is renamed; the new files are read where
  /// they are.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func publish(_ replacements: [Replacement]) throws {
    for replacement in replacements where try directory.hasFile(replacement.newName) {
      let file = try file(of: replacement)
      if isReadOnly {
        file.redirect(to: replacement.newName)
        continue
      }
      try file.replace(by: replacement.newName)
    }
  }

  /// Brings the names of all files to the disk.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func synchronizeNames() throws { try directory.synchronize() }

  private func file(of replacement: Replacement) throws -> TableFile {
    try directory.check(replacement)
    if replacement.name == StoreDirectory.buffers { return buffers }
    return try file(table(named: replacement.name))
  }

  /// Removes new files that will never be published.
  public func discard(_ replacements: [Replacement]) { directory.discard(replacements) }

  /// Removes what a process has left that died while it made new files.
  public func removeStrays() throws { try directory.removeStrays() }

  /// The byte order of the files that the C library reads.
  func libraryByteOrder() throws -> HashFileHeader.ByteOrder {
    try storeErrors(at: location) {
      let place = try directory.file(StoreDirectory.newPrefix + "byte-order")
      return try HashDatabase.libraryByteOrder(probing: place.libraryPath)
    }
  }

  /// The size of the files that folding would copy.
  public func byteCount(touchedBy footprint: PendingFootprint) throws -> Int {
    let files = try footprint.tables.map { try file($0) } + (footprint.hasNames ? [buffers] : [])
    return try files.reduce(0) { $0 + (try $1.reading { $0.fileSize } ?? 0) }
  }
}
