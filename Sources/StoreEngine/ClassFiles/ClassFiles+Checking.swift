import Files

extension ClassFiles {
  /// Returns the path of the file of a table, or of the named buffers, whether or not it exists.
  ///
  /// Complexity: linear in the number of tables.
  public func path(of name: String) -> String { directory.path(fileName(ofTable: name)) }

  /// Returns the content of the log on disk; nil if there is no log.
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

  /// Returns the damage that prevents replaying the log, and the log itself if it can be read.
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
    // Pending saves are merged into the files, but a lost index is skipped.
    let findings = try (inspect().findings + ordered.inspect()).filter {
      $0.kind != .foreignFile && $0.kind != .index
    }
    return (findings, log)
  }

  /// Checks the files and the log, and, if the store opens, its records.
  ///
  /// - Parameters:
  ///   - key: The key of an encrypted store.
  ///   - isBeside: Whether other processes may write meanwhile.
  ///   - progress: Called with the progress of each class.
  /// - Returns: The findings.
  /// - Throws: ``StoreError`` with `encrypted`, `notEncrypted` or `wrongKey`.
  package func check(
    key: (any StoreKey)?, isBeside: Bool = false, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> StoreCheck {
    let sealing: Sealing?
    do {
      sealing = try Sealing(self, key)
    } catch  where error.code == .damaged {
      close()
      return StoreCheck(findings: [StoreFinding(.fileDamaged, error)])
    } catch {
      close()
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
        // A truncated file has lost the mark at its end, too: report only one damage.
        findings.removeAll { finding in
          finding.kind == .fileDamaged && finding.location.className != nil
            && ofFiles.contains {
              $0.kind == .fileDamaged && $0.location.className == finding.location.className
            }
        }
        findings += ofFiles
        close()
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
      close()
      findings.append(StoreFinding(.fileDamaged, error, at: .init(path: location)))
      return StoreCheck(findings: findings)
    }
  }
}
