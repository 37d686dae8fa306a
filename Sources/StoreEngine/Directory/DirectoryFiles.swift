package import Files

/// The files of tables and named buffers in a directory of their own, beside the commit log.
///
/// A ``LoggedBackend`` over them can be backed up and asked for its log and the sizes of its files.
public protocol DirectoryFiles: RecordFiles {
  /// The format of the files.
  associatedtype Format: ClassFileFormat

  /// Opens a directory and locks it, without waiting.
  ///
  /// - Throws: ``StoreError`` with `inUse` or `ioError`.
  init(directory: String, configuration: ClassFileConfiguration<Format>) throws(StoreError)

  /// The directory.
  var directory: StoreDirectory { get }

  /// The name in the directory that the file of a table, or of the named buffers, has or would
  /// have.
  func fileName(ofTable name: String) -> String

  /// The tables and named buffers whose files are those of another machine.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func foreignTables() throws(StoreError) -> [String]

  /// Makes new files of this machine beside those of some tables, as far as that can be done.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`. No new file is left then.
  func prepareConversion(
    of names: [String], mark: FileMark, durability: Durability
  ) throws(StoreError) -> Compaction
}

extension DirectoryFiles {
  /// Opens a directory for reading only, without a lock.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public init(reading directory: String) throws(StoreError) {
    try self.init(reading: directory, in: SystemFiles.shared)
  }

  /// Opens a directory of a file system for reading only.
  package init(reading directory: String, in fileSystem: any FileSystem) throws(StoreError) {
    var configuration = ClassFileConfiguration<Format>(access: .readOnly)
    configuration.fileSystem = fileSystem
    try self.init(directory: directory, configuration: configuration)
  }

  /// Opens a directory that exists for reading and writing.
  ///
  /// - Throws: ``StoreError`` with `inUse` or `ioError`.
  public init(writing directory: String) throws(StoreError) {
    try self.init(writing: directory, in: SystemFiles.shared)
  }

  /// Opens a directory of a file system that exists for reading and writing.
  package init(writing directory: String, in fileSystem: any FileSystem) throws(StoreError) {
    var configuration = ClassFileConfiguration<Format>(createIfMissing: false)
    configuration.fileSystem = fileSystem
    try self.init(directory: directory, configuration: configuration)
  }
}

/// Runs calls of the operating system, and makes their errors those of a store.
package func systemErrors<Result>(
  at path: @autoclosure () -> String, _ body: () throws -> Result
) throws(StoreError) -> Result {
  do { return try body() } catch { throw .wrapping(error, .ioError, at: .init(path: path())) }
}

/// The size of a file; 0 when there is none.
package func sizeOfFile(at file: some FileAddress) throws(StoreError) -> Int {
  try systemErrors(at: file.location.path) { try FileStatus.find(file)?.size ?? 0 }
}

extension DirectoryFiles {
  /// Where the file of a table, or of the named buffers, is or would be.
  public func path(of name: String) -> String { directory.path(fileName(ofTable: name)) }

  /// The log as it is on the disk; nil when there is none.
  package func scanLog() throws(StoreError) -> CommitLogScan? {
    guard try directory.hasLog() else { return nil }
    return try systemErrors(at: directory.path(StoreDirectory.log)) {
      let file = try StoreFile(directory.file(StoreDirectory.log), writable: false)
      var scan = try CommitLogScan(file)
      try scan.readEarlierLogs(
        manifest().flatMap { StoreManifest($0) }, open: directory.openEarlierLog)
      return scan
    }
  }

  /// Damage to the log or the files that keeps the log from being replayed, and the log, if it can
  /// be read.
  private func findingsBeforeOpening() throws(StoreError) -> (
    findings: [StoreFinding], log: CommitLogScan?
  ) {
    let path = location + "/" + StoreDirectory.log
    let log: CommitLogScan?
    do {
      log = try scanLog()
    } catch {
      return ([StoreFinding(.log, error, at: .init(path: path))], nil)
    }
    var damage = log?.findings(path: path) ?? []
    do {
      damage += try StoreManifest.findings(
        manifest(), log, path: location, hasFile: hasAnyFile, mark: markOfAnyFile)
    } catch {
      damage.append(StoreFinding(.fileDamaged, error, at: .init(path: location)))
    }
    if !damage.isEmpty { return (damage, log) }
    if log?.pendingBatches.isEmpty != false { return ([], log) }
    // What is pending is folded over the files, but an index that is lost is passed over.
    let findings = try (inspect().findings + ordered.inspect()).filter {
      $0.kind != .foreignFile && $0.kind != .index
    }
    return (findings, log)
  }

  /// Checks the files and the log, and, if the store opens, its records.
  ///
  /// - Parameters:
  ///   - key: The key of an encrypted store.
  ///   - isBeside: Whether others may write meanwhile.
  ///   - progress: Hears of each class.
  /// - Returns: What was found.
  /// - Throws: ``StoreError`` with `encrypted`, `notEncrypted` or `wrongKey`.
  package func check(
    key: (any StoreKey)?, isBeside: Bool = false, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> StoreCheck {
    let sealing: Sealing?
    do {
      sealing = try Sealing(self, key)
    } catch  where error.code == .damaged {
      try? close()
      return StoreCheck(findings: [StoreFinding(.fileDamaged, error)])
    } catch {
      try? close()
      throw error
    }
    ordered.use(sealing)
    let check = try check(sealing, isBeside, progress)
    guard let sealing else { return check }
    return check.mapFindings { sealing.naming($0) }
  }

  private func check(
    _ sealing: Sealing?, _ isBeside: Bool, _ progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> StoreCheck {
    var findings: [StoreFinding] = []
    do {
      let log: CommitLogScan?
      (findings, log) = try findingsBeforeOpening()
      guard findings.isEmpty else {
        let ofFiles = try inspect().findings + ordered.inspect()
        // A file that is cut off has lost its mark with its end: that is one damage.
        findings.removeAll { finding in
          finding.kind == .fileDamaged && finding.location.className != nil
            && ofFiles.contains {
              $0.kind == .fileDamaged && $0.location.className == finding.location.className
            }
        }
        findings += ofFiles
        try close()
        return StoreCheck(findings: findings)
      }
      let opened = try LoggedBackend(files: self, sealing: sealing)
      let backend = isBeside ? try LoggedBackend(frozen: opened) : opened
      defer { try? backend.close() }
      var check = try BackendCheck(backend).run(progress: progress)
      let path = location + "/" + StoreDirectory.log
      for finding in log?.roomFindings(path: path) ?? [] { check.add(finding) }
      check.tornTailByteCount = check.tornTailByteCount ?? log?.tornByteCount
      return check
    } catch  where error.code != .inUse {
      try? close()
      findings.append(StoreFinding(.fileDamaged, error, at: .init(path: location)))
      return StoreCheck(findings: findings)
    }
  }
}
