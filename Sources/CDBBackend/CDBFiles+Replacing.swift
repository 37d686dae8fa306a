import CDB
import Files
public import StoreEngine

extension CDBFiles {
  /// Makes new files with the changes, and brings them to the disk unless the level is `none`.
  ///
  /// Complexity: linear in the sizes of the files, which are written anew.
  ///
  /// - Throws: `StoreError` with `rowExists`, `full`, `ioError`, `damaged` or `closed`. No new file
  ///   is left then.
  public func prepare(
    _ changes: ChangeSet, mark: FileMark, durability: Durability
  ) throws -> [Replacement] {
    var made: [Replacement] = []
    do {
      for target in try targets(of: changes) {
        let reader = try target.file.reader()
        guard reader != nil || target.writesAnything else { continue }
        let name = "\(StoreDirectory.newPrefix)\(made.count)"
        made.append(Replacement(newName: name, name: target.file.name, mark: mark))
        try cdbErrors(className: target.file.name) {
          try FilePreparation(
            bytes: changes.bytes, target: target, reader: reader, place: directory.file(name),
            rights: directory.rights(ofNew: target.file.fileName), mark: mark,
            isSynced: durability != .none, testedSizeLimit: testedSizeLimit
          ).run()
        }
      }
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
  /// Where the store is open for reading only, nothing is renamed; the new files are read where
  /// they are.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func publish(_ replacements: [Replacement]) throws {
    for replacement in replacements where try directory.hasFile(replacement.newName) {
      let file = try file(of: replacement)
      if isReadOnly {
        file.redirect(to: replacement.newName)
      } else {
        try file.replace(by: replacement.newName)
      }
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

  /// The size of the files that folding would write anew.
  public func byteCount(touchedBy footprint: PendingFootprint) throws -> Int {
    let files = try footprint.tables.map { try file($0) } + (footprint.hasNames ? [buffers] : [])
    return try files.reduce(0) { $0 + (try $1.reader()?.byteCount ?? 0) }
  }

  /// Nothing: a constant database has no gaps.
  public func prepareCompaction(
    mark: FileMark, durability: Durability, progress: (IntegrityProgress) -> Void
  ) throws -> Compaction { Compaction() }

  // MARK: The log and the manifest

  /// The file of the commit log.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func openLog() throws -> (any Storage)? { try directory.openLog() }

  /// Whether there is a log.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func hasLog() throws -> Bool { try directory.hasLog() }

  /// The bytes of the key file; nil when the store is not encrypted.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func keyFile() throws -> [UInt8]? { try directory.keyFile() }

  /// Writes a key file under another name, and renames it.
  ///
  /// - Throws: `StoreError` with `full` or `ioError`.
  public func setKeyFile(_ bytes: [UInt8]) throws { try directory.setKeyFile(bytes) }

  /// The bytes of the manifest; nil when there is none.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func manifest() throws -> [UInt8]? { try directory.manifest() }

  /// Writes a manifest under another name, and renames it.
  ///
  /// - Throws: `StoreError` with `full` or `ioError`.
  public func setManifest(_ bytes: [UInt8], durability: Durability) throws {
    try directory.setManifest(bytes, durability: durability)
  }

  /// The names of the tables, and of the named buffers, that have files.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func filesForManifest() throws -> [String] { try fileNames() }

  /// The mark in the file of a table; nil when there is none.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func mark(of name: String) throws -> FileMark? {
    try FileMark.ofDatabase(at: directory.file(fileName(ofTable: name)))
  }

  /// The mark in a new file; nil when there is none.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func mark(ofNewFile newName: String) throws -> FileMark? {
    try FileMark.ofDatabase(at: directory.file(newName))
  }

  /// Whether a file is there, perhaps under the name that a dead writer left it with.
  public func hasFile(_ name: String) throws -> Bool {
    try directory.hasFile(fileName(ofTable: name))
  }
}
