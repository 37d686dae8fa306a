import Files

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
  private let fileName: @Sendable (_ table: String) -> String
  private let lock: DirectoryLock

  /// Locks a directory, without waiting.
  ///
  /// - Throws: ``StoreError`` with `inUse` or `ioError`; `encrypted`, `notEncrypted` or `wrongKey` when
  ///   the key is not that of the store, `damaged` when its key file is lost.
  package init(
    _ directory: String, key: (any StoreKey)?,
    fileName: @escaping @Sendable (_ table: String) -> String = { $0 }
  ) throws {
    let path = try systemErrors(at: directory) { try realPath(directory) }
    self.path = path
    self.fileName = fileName
    lock = try systemErrors(at: path) { try DirectoryLock(path, shared: true) }
    seal = SalvageSeal(sealing: try Sealing(salvaging: path, key))
  }

  /// Where the log is, or would be.
  package var logPath: String { path + "/" + StoreDirectory.log }

  /// The names of all entries of the directory.
  package func entries() throws -> [String] {
    try systemErrors(at: path) { try directoryEntries(path) }
  }

  /// The file that has a table: a new one that was ready when the process died, or the old one.
  package func path(of name: String) -> String {
    if let new = newFiles[name], exists(path + "/" + new) { return path + "/" + new }
    return path + "/" + fileName(name)
  }

  /// The file that has an ordered table.
  func path(ofOrdered name: OrderedTableName) -> String {
    if let new = newFiles[name.fileName], exists(path + "/" + new) { return path + "/" + new }
    return path + "/" + name.fileName
  }

  /// Reads the log, as far as that can be done.
  package mutating func readLog(_ report: inout SalvageReport) {
    guard exists(logPath) else { return }
    do {
      let scan = try systemErrors(at: logPath) {
        try CommitLogScan(try FileStorage(logPath, writable: false), sealing: seal.sealing)
      }
      for replacement in try scan.replacements() {
        newFiles[replacement.name] = replacement.newName
      }
      log = scan
    } catch {
      report.lose(StoreFinding(.log, error, at: .init(path: logPath)))
    }
  }

  /// The saves that are in the log only, up to one that is not what was saved.
  package func pendingChanges(
    _ report: inout SalvageReport
  ) throws -> [(changes: ChangeSet, tableNames: [String])] {
    var saves: [(ChangeSet, [String])] = []
    for batch in log?.pendingBatches ?? [] {
      do {
        guard let save = try log?.changes(of: batch) else { break }
        saves.append(save)
      } catch let error as StoreError where error.code == .notAuthentic {
        report.lose(StoreFinding(.log, error, at: .init(path: logPath)))
        break
      }
    }
    return saves
  }

  /// Gives the new store the key file of the old one: what is brought over is sealed for it.
  package func copyKeyFile(to target: TargetDirectory) throws {
    guard seal.sealing != nil else { return }
    try target.copy(StoreDirectory.key, from: path + "/" + StoreDirectory.key)
    try target.synchronize(StoreDirectory.key)
  }

  /// Says which files are gone, the log among them, and where the log is damaged.
  package func listLosses(_ report: inout SalvageReport) throws {
    let manifest = try StoreDirectory.manifest(in: path)
    let missing = StoreManifest.findings(manifest, log, path: path) {
      exists(OrderedTableName(fileName: $0).map(path(ofOrdered:)) ?? path(of: $0))
    }
    for finding in missing + (log?.findings(path: logPath) ?? []) { report.lose(finding) }
  }
}
