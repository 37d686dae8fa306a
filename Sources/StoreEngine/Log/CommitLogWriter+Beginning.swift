import Files

// While the saves of a log are moved to the files, commits go to a new log, and the old one is
// still needed.
extension CommitLogWriter {
  /// This log and the ones before it, for the header of the next log.
  var ending: CommitLogSlot.EarlierLogs {
    CommitLogSlot.EarlierLogs(
      firstEpoch: earlier?.firstEpoch ?? epoch, end: offset, isSynced: durability == .full)
  }

  /// Syncs everything that was appended; another thread may append meanwhile.
  func synchronizeBeside() throws(StoreError) {
    if durability == .process { try storage.synchronize() }
  }

  /// Prepares a file for the next log: without batches of its epoch, and with its header on disk.
  ///
  /// - Parameters:
  ///   - file: A new file, or one that was the log of an earlier epoch.
  ///   - slot: The header; its size is set to that of the file.
  ///   - isSynced: Whether the file is synced.
  /// - Returns: The header that was written.
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  static func begin(
    _ file: StoreFile, _ slot: CommitLogSlot, isSynced: Bool
  ) throws(StoreError) -> CommitLogSlot {
    var slot = slot
    let size = try file.size()
    if size < slot.size { try file.resize(to: slot.size) } else { slot.size = size }
    // A log with a header has the size it states, so a shorter one has been truncated.
    if isSynced { try file.synchronize() }
    // Overwrites both headers, so that no header of an earlier epoch counts if the new one is
    // damaged.
    let none = [UInt8](repeating: 0, count: CommitLogFormat.slotSize)
    try file.write(slot.bytes + none, at: 0)
    if isSynced { try file.synchronize() }
    return slot
  }

  /// Records that the log before this one ends earlier, and drops the batches of this log.
  ///
  /// A power cut has taken unsynced saves of that log, and everything in this log rests on them.
  mutating func forget(after end: Int) throws(StoreError) {
    guard var earlier else { return }
    try clearAll()
    (earlier.end, earlier.isSynced) = (end, true)
    try setEarlier(earlier)
  }
}
