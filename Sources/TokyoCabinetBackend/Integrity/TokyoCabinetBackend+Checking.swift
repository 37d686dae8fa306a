import Files
public import StoredObjectsCore

extension LoggedBackend where Files == TokyoCabinetFiles {
  /// Checks a store that may not even open, without knowing its classes, and without changing it.
  ///
  /// First come the files' structure and the log, read by this library's own code; what is sound goes
  /// on to `BackendCheck`.
  ///
  /// Complexity: as `BackendCheck.run(progress:)` and ``TokyoCabinetFiles/inspect()``.
  ///
  /// - Throws: `StoreError` with `inUse`, or `ioError` when the directory can't be read.
  public static func check(
    directory: String, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws -> StoreCheck {
    let reading = Configuration(access: .readOnly)
    let files = try TokyoCabinetFiles(directory: directory, configuration: reading)
    var findings: [StoreFinding] = []
    do {
      findings = try files.findingsBeforeOpening()
      guard findings.isEmpty else {
        findings += try files.inspect().findings.filter { !findings.contains($0) }
        files.close()
        return StoreCheck(findings: findings)
      }
      let backend = try LoggedBackend(files: files)
      defer { try? backend.close() }
      return try BackendCheck(backend).run(progress: progress)
    } catch let error as StoreError where error.code != .inUse {
      files.close()
      findings.append(StoreFinding(.fileDamaged, error, at: .init(path: files.location)))
      return StoreCheck(findings: findings)
    }
  }
}

extension TokyoCabinetFiles {
  /// The log as it is on the disk; nil when there is none.
  package func scanLog() throws -> CommitLogScan? {
    let path = location + "/" + Names.log
    guard exists(path) else { return nil }
    return try storeErrors(at: path) {
      let file = try FileStorage(path, writable: false)
      defer { file.close() }
      return try CommitLogScan(file)
    }
  }

  /// What keeps the log from being replayed: damage to it, or to the class files.
  fileprivate func findingsBeforeOpening() throws -> [StoreFinding] {
    let path = location + "/" + Names.log
    do {
      let log = try scanLog()
      let findings =
        try (log?.findings(path: path) ?? [])
        + StoreManifest.findings(manifest(), log, path: location, hasFile: hasFile)
      if !findings.isEmpty { return findings }
      if log?.pendingBatches.isEmpty != false { return [] }
    } catch {
      return [StoreFinding(.log, error, at: .init(path: path))]
    }
    return try inspect().findings.filter { $0.kind != .foreignFile }
  }
}
