import Files

// A log may need the ones before it, see Recovery+EarlierLogs.swift.
extension CommitLogScan {
  /// An earlier log that is missing or can't be used.
  struct LostLog: Sendable {
    let epoch: UInt64
    let reason: String
  }

  /// Reads the logs before this one that are not in the files yet.
  ///
  /// - Parameters:
  ///   - manifest: The manifest of the store; nil if it can't be read.
  ///   - open: Opens a log by its epoch; returns nil if it is missing.
  /// - Throws: ``StoreError`` with `ioError`, or `damaged` for a log of a later version.
  mutating func readEarlierLogs(
    _ manifest: StoreManifest?, open: (UInt64) throws(StoreError) -> StoreFile?
  ) throws(StoreError) {
    guard let slot, let before = slot.earlier, !batches.contains(where: \.isCheckpoint) else {
      return
    }
    guard let epochs = slot.neededEpochs(manifest) else {
      return lostLogs.append(
        LostLog(epoch: before.firstEpoch, reason: "is too far from its successor"))
    }
    for epoch in epochs {
      guard let file = try open(epoch) else {
        lostLogs.append(LostLog(epoch: epoch, reason: "is gone"))
        continue
      }
      let log = try CommitLogScan(file, sealing: sealing)
      if log.epoch == epoch {
        earlier.append(log)
      } else {
        lostLogs.append(LostLog(epoch: epoch, reason: "is from another time"))
      }
    }
    checkEnds(before)
  }

  private mutating func checkEnds(_ before: CommitLogSlot.EarlierLogs) {
    let ends = earlier.dropFirst().map(\.slot?.earlier?.end) + [before.isSynced ? before.end : nil]
    for (log, end) in zip(earlier, ends) where log.end < end ?? 0 {
      lostLogs.append(LostLog(epoch: log.epoch, reason: "has been cut off"))
    }
  }

  /// The saves of all logs after the last checkpoint.
  package var pendingBatches: [Batch] {
    chain(fromCheckpoint: true).followed.filter { !$0.isCheckpoint }
  }

  /// The saves that depend on lost saves.
  package var leftOutBatches: [Batch] { chain(fromCheckpoint: true).leftOut }

  /// Returns the batches up to the first damage or gap, and the batches after it.
  ///
  /// With `fromCheckpoint`, the first part begins after the last checkpoint.
  func chain(fromCheckpoint: Bool) -> (followed: [Batch], leftOut: [Batch]) {
    var chain = (followed: [Batch](), leftOut: [Batch]())
    var isWhole = true
    for log in earlier + [self] {
      isWhole = isWhole && !lostLogs.contains { $0.epoch < log.epoch }
      let checkpoint = fromCheckpoint ? log.batches.lastIndex(where: \.kind.coversLog) : nil
      let first = checkpoint.map { $0 + 1 } ?? 0
      if isWhole { chain.followed += log.batches[first...] } else { chain.leftOut += log.batches }
      chain.leftOut += log.laterBatches
      isWhole = isWhole && log.laterBatches.isEmpty && !log.isCutOff && !log.hasDamagedHeaders
    }
    return chain
  }

  /// Returns the findings about the logs before this one.
  func earlierFindings(path: String) -> [StoreFinding] {
    func location(_ epoch: UInt64) -> String {
      directoryName(path) + "/" + StoreDirectory.earlierLog(epoch)
    }
    return lostLogs.map { log in
      StoreFinding(
        .log,
        "The earlier log of epoch \(log.epoch) \(log.reason). Restore a backup, or salvage the store.",
        at: .init(path: location(log.epoch)))
    } + earlier.flatMap { $0.findings(path: location($0.epoch)) }
  }
}

extension CommitLogScan.Batch {
  /// Whether the batch is a commit, or contains the number of one.
  var namesCommit: Bool { kind.hasCommit || kind == .earlierCheckpoint || !isCheckpoint }
}
