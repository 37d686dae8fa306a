package import Files

/// A damaged store that is only read: its directory, and what its log and its manifest say.
///
/// As long as it is held, no other process can write to the directory.
package struct SalvageSource {
  /// The path of the directory, without symbolic links.
  package let path: String
  /// The saves that are in the log; nil when there is none, or nothing of it can be read.
  package private(set) var log: CommitLogScan?
  /// New files that a checkpoint was about to put in the place of others: by their final names.
  package private(set) var newFiles: [String: String] = [:]
  /// What an encrypted store is opened with.
  package let seal: SalvageSeal
  /// The directory, locked.
  package let directory: DirectoryHandle
  private let fileName: @Sendable (_ table: String) -> String
  /// The mark in the file of a table.
  private let mark: @Sendable (_ file: FileLocation) throws(StoreError) -> FileMark?

  /// Locks a directory, without waiting.
  ///
  /// - Throws: ``StoreError`` with `inUse` or `ioError`; `encrypted`, `notEncrypted` or `wrongKey`
  ///   when the key is not that of the store, `damaged` when its key file is lost.
  package init(
    _ directory: String, key: (any StoreKey)?, in fileSystem: any FileSystem,
    fileName: @escaping @Sendable (_ table: String) -> String = { $0 },
    mark: @escaping @Sendable (_ file: FileLocation) throws(StoreError) -> FileMark?
  ) throws(StoreError) {
    let path = try systemErrors(at: directory) { try realPath(directory, in: fileSystem) }
    self.path = path
    (self.fileName, self.mark) = (fileName, mark)
    let handle = try systemErrors(at: path) {
      try DirectoryHandle(FileLocation(path, in: fileSystem), shared: true)
    }
    self.directory = handle
    seal = SalvageSeal(sealing: try Sealing(salvaging: handle, key))
  }

  /// Where the log is, or would be.
  package var logPath: String { path + "/" + StoreDirectory.log }

  /// The names of all entries of the directory.
  package func entries() throws(StoreError) -> [String] {
    try systemErrors(at: path) { try directory.entries() }
  }

  /// The file that has a table: a new one that was ready when the process died, or the old one.
  package func file(of name: String) throws(StoreError) -> FileLocation {
    try file(name, fileName(name))
  }

  /// The file that has an ordered table.
  func file(ofOrdered name: OrderedTableName) throws(StoreError) -> FileLocation {
    try file(name.fileName, name.fileName)
  }

  /// The file that has a table, or an ordered table, whatever checkpoints in the log say.
  private func fileInPlace(ofAny name: String) -> FileLocation {
    directory.file(OrderedFiles.isFile(name) ? name : fileName(name))
  }

  private func file(ofAny name: String) throws(StoreError) -> FileLocation {
    if let ordered = OrderedTableName(fileName: name) { return try file(ofOrdered: ordered) }
    return try file(of: name)
  }

  private func file(_ name: String, _ fileName: String) throws(StoreError) -> FileLocation {
    if let new = newFiles[name], try hasFile(directory.file(new)) { return directory.file(new) }
    return directory.file(fileName)
  }

  /// Whether a file is there.
  package func hasFile(_ location: FileLocation) throws(StoreError) -> Bool {
    try systemErrors(at: location.path) { try exists(location) }
  }

  /// Reads the log, as far as that can be done.
  package mutating func readLog(_ report: inout SalvageReport) {
    do {
      let location = directory.file(StoreDirectory.log)
      guard try hasFile(location) else { return }
      var scan = try systemErrors(at: logPath) {
        try CommitLogScan(try StoreFile(location, writable: false), sealing: seal.sealing)
      }
      try readEarlierLogs(of: &scan)
      log = scan
      for replacement in try scan.replacements() where try isReady(replacement) {
        newFiles[replacement.name] = replacement.newName
      }
    } catch {
      report.lose(StoreFinding(.log, error, at: .init(path: logPath)))
    }
  }

  private func readEarlierLogs(of scan: inout CommitLogScan) throws(StoreError) {
    let manifest = try StoreDirectory.manifest(in: directory).flatMap { StoreManifest($0) }
    try systemErrors(at: logPath) {
      try scan.readEarlierLogs(manifest) { (epoch) throws(StoreError) in
        let file = directory.file(StoreDirectory.earlierLog(epoch))
        return try hasFile(file) ? StoreFile(file, writable: false) : nil
      }
    }
  }

  /// Whether a new file is the one that the log means, and not in its place yet.
  ///
  /// The next checkpoint's file begins as a copy of this one, mark and all, under the same name.
  private func isReady(_ replacement: Replacement) throws(StoreError) -> Bool {
    guard let mark = replacement.mark else { return true }
    func isMeant(_ file: FileLocation) throws(StoreError) -> Bool {
      let isOrdered = OrderedFiles.isFile(replacement.name)
      return try hasFile(file) && mark == markOfFile(at: file, isOrdered: isOrdered)
    }
    if try isMeant(fileInPlace(ofAny: replacement.name)) { return false }
    return try isMeant(directory.file(replacement.newName))
  }

  /// The mark of a file; that of one that can't be read is reported with its records.
  private func markOfFile(at location: FileLocation, isOrdered: Bool) -> FileMark? {
    do {
      return isOrdered ? OrderedFileFormat.mark(try MappedFile(location)) : try mark(location)
    } catch {
      return .unreadable
    }
  }

  /// The saves that are in the log only, up to one that is not what was saved.
  package func pendingChanges(
    _ report: inout SalvageReport
  ) throws(StoreError) -> [(changes: ChangeSet, tableNames: [String])] {
    var saves: [(ChangeSet, [String])] = []
    for batch in log?.pendingBatches ?? [] {
      do {
        let save = try systemErrors(at: logPath) { try log?.changes(of: batch) }
        guard let save else { break }
        saves.append(save)
      } catch  where error.code == .notAuthentic {
        report.lose(StoreFinding(.log, error, at: .init(path: logPath)))
        break
      }
    }
    return saves
  }

  /// The last commit that the log or the manifest knows.
  func lastCommit() throws(StoreError) -> Commit? {
    let manifest = try StoreDirectory.manifest(in: directory).flatMap { StoreManifest($0) }
    guard let log else { return manifest?.lastCommit }
    return try systemErrors(at: logPath) { try log.lastCommit(after: manifest) }
  }

  /// Gives the new store the key file of the old one: what is brought over is sealed for it.
  package func copyKeyFile(to target: TargetDirectory) throws(StoreError) {
    guard seal.sealing != nil else { return }
    try target.copy(StoreDirectory.key, from: directory.file(StoreDirectory.key))
    try target.synchronize(StoreDirectory.key)
  }

  /// Says which files are gone, the log among them, and where the log is damaged.
  package func listLosses(_ report: inout SalvageReport) throws(StoreError) {
    let manifest = try StoreDirectory.manifest(in: directory)
    let missing = try StoreManifest.findings(
      manifest, log, path: path,
      hasFile: { (name) throws(StoreError) in try hasFile(file(ofAny: name)) },
      mark: { (name) throws(StoreError) in
        markOfFile(at: try file(ofAny: name), isOrdered: OrderedFiles.isFile(name))
      })
    for finding in missing + (log?.findings(path: logPath) ?? []) { report.lose(finding) }
  }
}
