package import Files

/// A damaged store, opened for reading: its directory, and the content of its log and manifest.
///
/// While it exists, no other process can write to the directory.
package struct SalvageSource {
  /// The path of the directory, without symbolic links.
  package let path: String
  /// The saves in the log; nil if there is no log, or nothing of it can be read.
  package private(set) var log: CommitLogScan?
  /// The names of new files that a checkpoint was about to publish, by their final names.
  package private(set) var newFiles: [String: String] = [:]
  /// Opens the content of an encrypted store.
  package let seal: SalvageSeal
  /// The directory, locked.
  package let directory: DirectoryHandle
  private let fileName: @Sendable (_ table: String) -> String
  /// Returns the mark in the file of a table.
  private let mark: @Sendable (_ file: FileLocation) throws(StoreError) -> FileMark?

  /// Locks a directory, without waiting.
  ///
  /// - Throws: ``StoreError`` with `inUse` or `ioError`; `encrypted`, `notEncrypted` or `wrongKey`
  ///   if the key is not that of the store; `damaged` if the key file is lost.
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

  /// The path of the log, whether or not it exists.
  package var logPath: String { path + "/" + StoreDirectory.log }

  /// Returns the names of all entries of the directory.
  package func entries() throws(StoreError) -> [String] {
    try systemErrors(at: path) { try directory.entries() }
  }

  /// Returns the file of a table: a complete new file that was not published yet, or the old one.
  package func file(of name: String) throws(StoreError) -> FileLocation {
    try file(name, fileName(name))
  }

  /// Returns the file of an ordered table.
  func file(ofOrdered name: OrderedTableName) throws(StoreError) -> FileLocation {
    try file(name.fileName, name.fileName)
  }

  /// Returns the published file of a table or an ordered table, regardless of the log.
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

  /// Whether a file exists.
  package func hasFile(_ location: FileLocation) throws(StoreError) -> Bool {
    try systemErrors(at: location.path) { try exists(location) }
  }

  /// Reads the log as far as possible.
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

  /// Whether a new file is the one in the log, and not published yet.
  ///
  /// The next checkpoint's file begins as a copy of this one, including its mark, under the same
  /// name.
  private func isReady(_ replacement: Replacement) throws(StoreError) -> Bool {
    guard let mark = replacement.mark else { return true }
    func isMeant(_ file: FileLocation) throws(StoreError) -> Bool {
      let isOrdered = OrderedFiles.isFile(replacement.name)
      return try hasFile(file) && mark == markOfFile(at: file, isOrdered: isOrdered)
    }
    if try isMeant(fileInPlace(ofAny: replacement.name)) { return false }
    return try isMeant(directory.file(replacement.newName))
  }

  /// Returns the mark of a file; if it can't be read, reading the records reports that.
  private func markOfFile(at location: FileLocation, isOrdered: Bool) -> FileMark? {
    do {
      return isOrdered ? OrderedFileFormat.mark(try MappedFile(location)) : try mark(location)
    } catch {
      return .unreadable
    }
  }

  /// Returns the saves that are only in the log, up to the first that is not authentic.
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

  /// Returns the last commit in the log or the manifest.
  func lastCommit() throws(StoreError) -> Commit? {
    let manifest = try StoreDirectory.manifest(in: directory).flatMap { StoreManifest($0) }
    guard let log else { return manifest?.lastCommit }
    return try systemErrors(at: logPath) { try log.lastCommit(after: manifest) }
  }

  /// Copies the key file to the new store, because the copied bytes are sealed with its key.
  package func copyKeyFile(to target: TargetDirectory) throws(StoreError) {
    guard seal.sealing != nil else { return }
    try target.copy(StoreDirectory.key, from: directory.file(StoreDirectory.key))
    try target.synchronize(StoreDirectory.key)
  }

  /// Reports missing files, including the log, and damage to the log.
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
