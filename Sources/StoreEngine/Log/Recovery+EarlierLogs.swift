import Files

// While the saves of a log are moved to the files, further saves go to a new log. An opening finds
// both logs if a process has died in between.

/// A log that another one follows, and that was read to its end.
struct EarlierLog: Sendable {
  let epoch: UInt64
  let file: StoreFile
  /// The end of its batches.
  let end: Int
}

/// The checkpoints in the rest of a log, which are looked up before the rest is replayed.
private struct LogOutlook {
  /// The checkpoint of the logs before this one.
  var earlierCheckpoint: CommitLogReader.Batch?
  /// Whether a checkpoint covers everything before it.
  var coversLog = false
  /// Whether the logs before this one are in the files.
  var coversEarlierLogs: Bool { coversLog || earlierCheckpoint != nil }

  /// Reads a log up to its last checkpoint, unless no earlier logs preceded it.
  init(_ reader: CommitLogReader) throws(StoreError) {
    if reader.slot.earlier == nil { return }
    guard let end = try reader.endOfLastCheckpoint() else { return }
    var ahead = reader
    while ahead.offset < end, let batch = try ahead.next() {
      if batch.kind == .earlierCheckpoint { earlierCheckpoint = batch }
      if batch.kind.coversLog { coversLog = true }
    }
  }
}

extension Recovery {
  /// Replays the logs that are needed before the last one, or finishes their checkpoint.
  ///
  /// The last log contains the record of that checkpoint.
  mutating func replayEarlierLogs(before last: CommitLogReader) throws(StoreError) {
    guard let earlier = last.slot.earlier else { return }
    let outlook = try LogOutlook(last)
    if !outlook.coversEarlierLogs {
      for epoch in try neededEpochs(before: last.slot) { try replayEarlierLog(epoch) }
      try checkEnd(earlier)
    }
    try finish(outlook, of: last.storage)
  }

  /// Finishes a checkpoint of earlier logs before the commits of this log are read.
  ///
  /// Even the commits before its record are newer than its files.
  private mutating func finish(
    _ outlook: LogOutlook, of log: StoreFile
  ) throws(StoreError) {
    // The files of a later checkpoint replace these.
    guard !outlook.coversLog, let checkpoint = outlook.earlierCheckpoint else { return }
    try finishEarlierCheckpoint(checkpoint, of: log)
  }

  /// Returns the epochs of the logs that are not in the files yet.
  private func neededEpochs(before last: CommitLogSlot) throws(StoreError) -> Range<UInt64> {
    if let epochs = last.neededEpochs(manifestOnDisk) { return epochs }
    throw StoreError(
      .damaged, "The log's header names earlier logs that can't exist.",
      at: .init(path: files.location + "/" + StoreDirectory.log, offset: 0))
  }

  private mutating func replayEarlierLog(_ epoch: UInt64) throws(StoreError) {
    guard let file = try files.openEarlierLog(epoch) else { throw lostLog(epoch, "is gone") }
    guard var reader = try CommitLogReader(file), reader.epoch == epoch else {
      throw lostLog(epoch, "is from another time")
    }
    reader.readTogether(isAlone: isAlone)
    try finish(try LogOutlook(reader), of: file)
    if let before = earlierLogs.last, let earlier = reader.slot.earlier,
      before.end < earlier.end
    {
      throw lostLog(before.epoch, "has been cut off")
    }
    while let batch = try reader.next() { try replay(batch, of: file) }
    // Throws if a later batch follows a damaged one.
    _ = try reader.tail()
    earlierLogs.append(EarlierLog(epoch: epoch, file: file, end: reader.offset))
  }

  /// Compares the end of the earlier logs with the one in the last log's header.
  private mutating func checkEnd(_ expected: CommitLogSlot.EarlierLogs) throws(StoreError) {
    guard let last = earlierLogs.last, last.end < expected.end else { return }
    if expected.isSynced { throw lostLog(last.epoch, "has been cut off") }
    // Without syncs a power cut may take the end of a log and leave the beginning of the next one.
    isLastLogLost = true
  }

  /// Throws if a batch was acknowledged as safe from power cuts but rests on lost saves.
  func checkIsUnsynced(_ batch: CommitLogReader.Batch) throws(StoreError) {
    guard batch.isSynced, let last = earlierLogs.last else { return }
    throw lostLog(last.epoch, "has been cut off")
  }

  private func lostLog(_ epoch: UInt64, _ what: String) -> StoreError {
    let name = StoreDirectory.earlierLog(epoch)
    return StoreError(
      .damaged,
      """
      The log \(name) \(what), and with it saves that are in no class file yet. Restore it from a \
      backup, or salvage the store.
      """,
      at: .init(path: files.location + "/" + name))
  }
}
