import Files

// A log may be followed by another one while its saves are brought to the files: commits go on in
// the new one, and the old one is needed until then.
extension CommitLogWriter {
  /// This log and the ones before it, for the header of the next log.
  var ending: CommitLogSlot.EarlierLogs {
    CommitLogSlot.EarlierLogs(
      firstEpoch: earlier?.firstEpoch ?? epoch, end: offset, isSynced: durability == .full)
  }

  /// Brings all that was appended to the disk; may run while another thread appends.
  func synchronizeBeside() throws(StoreError) {
    if durability == .process { try storage.synchronize() }
  }

  /// Prepares a file for the next log: afterwards it holds no batch of its epoch, and its header is
  /// on the disk.
  ///
  /// - Parameters:
  ///   - file: A new file, or one that was the log of an earlier epoch.
  ///   - slot: Its header; the size is that of the file.
  ///   - isSynced: Whether the file is brought to the disk.
  /// - Returns: The header that was written.
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  static func begin(
    _ file: StoreFile, _ slot: CommitLogSlot, isSynced: Bool
  ) throws(StoreError) -> CommitLogSlot {
    var slot = slot
    let size = try file.size()
    if size < slot.size { try file.resize(to: slot.size) } else { slot.size = size }
    // A log that has a header has its size, so that one that is shorter has been cut off.
    if isSynced { try file.synchronize() }
    // Both headers, so that none of an earlier epoch comes back should one be damaged.
    let none = [UInt8](repeating: 0, count: CommitLogFormat.slotSize)
    try file.write(slot.bytes + none, at: 0)
    if isSynced { try file.synchronize() }
    return slot
  }

  /// Takes note that the batches of the log before this one end earlier, after a power cut that has
  /// taken unsynced saves, and with them all that rest on them: those of this log.
  mutating func forget(after end: Int) throws(StoreError) {
    guard var earlier else { return }
    try clearAll()
    (earlier.end, earlier.isSynced) = (end, true)
    try setEarlier(earlier)
  }
}
