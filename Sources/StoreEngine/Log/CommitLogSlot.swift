/// One of the two headers of a commit log, which stands for the log when it is the newer one.
///
///     0    "SOCommit" | version (4) | serial (4) | epoch (8) | size (8) | end (8) |
///          earlier logs (17), in version 3 | checksum (4)
///
/// Besides the epoch it says what must be there, so that a log that something has cut off is not
/// taken for one that holds less. The lowest bit of the serial number says that the log was closed:
/// that nothing has been written behind its end.
struct CommitLogSlot: Equatable, Comparable, Sendable {
  /// Grows with every slot of an epoch.
  var serial: UInt32 = 0
  /// Whether all batches are on the disk, and none behind the end.
  var isClosed = false
  /// Only batches of this epoch count.
  var epoch: UInt64
  /// The file has at least so many bytes.
  var size: Int
  /// The batches of the epoch end here, or behind.
  var end: Int = CommitLogFormat.firstBatch
  /// The logs that had not been folded when this one began; nil when there were none.
  var earlier: EarlierLogs?

  /// Logs that a store needs together with the one that came after them.
  struct EarlierLogs: Equatable, Sendable {
    /// The epoch of the first of them; there is one for each epoch from here.
    var firstEpoch: UInt64
    /// Where the batches of the last one end.
    var end: Int
    /// Whether all of them were on the disk when the next log began.
    var isSynced: Bool
  }

  /// How many bytes of a slot mean anything, at most; the rest is zeros.
  static let length = 61

  /// A random number for a new log.
  ///
  /// No content of a record can then look like a batch of a later epoch, and a log is not taken for
  /// that of another store. Far enough from the end that it is never reached.
  static func randomEpoch() -> UInt64 { .random(in: 1...(1 << 62)) }

  /// Whether this one is older.
  static func < (left: Self, right: Self) -> Bool {
    (left.epoch, left.serial) < (right.epoch, right.serial)
  }

  /// The bytes of a slot.
  var bytes: [UInt8] {
    var buffer = DataBuffer(CommitLogFormat.magic)
    buffer.write(
      earlier == nil ? CommitLogFormat.version : CommitLogFormat.versionWithEarlierLogs)
    buffer.write(serial << 1 | (isClosed ? 1 : 0))
    buffer.write(epoch)
    buffer.write(UInt64(size))
    buffer.write(UInt64(end))
    if let earlier {
      buffer.write(earlier.firstEpoch)
      buffer.write(UInt64(earlier.end))
      buffer.write(earlier.isSynced)
    }
    buffer.write(CommitLogFormat.checksum(buffer.bytes))
    let rest = CommitLogFormat.slotSize - buffer.bytes.count
    return buffer.bytes + [UInt8](repeating: 0, count: rest)
  }

  /// Understands the first bytes of a slot; nil when they are none.
  ///
  /// - Throws: ``StoreError`` with `damaged` for one of another version.
  init?(_ bytes: [UInt8]) throws {
    guard bytes.count >= Self.length, bytes.starts(with: CommitLogFormat.magic) else { return nil }
    var buffer = DataBuffer(Array(bytes[..<Self.length]))
    try buffer.skip(CommitLogFormat.magic.count)
    let version = try buffer.readUInt32()
    let serial = try buffer.readUInt32()
    epoch = try buffer.readUInt64()
    let (size, end) = (Int(exactly: try buffer.readUInt64()), Int(exactly: try buffer.readUInt64()))
    if version == CommitLogFormat.versionWithEarlierLogs {
      earlier = try EarlierLogs(from: &buffer)
    }
    let expected = CommitLogFormat.checksum(Array(bytes[..<buffer.offset]))
    guard try buffer.readUInt32() == expected, let size, let end else { return nil }
    guard version == CommitLogFormat.version || earlier != nil else {
      throw StoreError(
        .damaged,
        """
        The log has format \(version); this library knows those up to \
        \(CommitLogFormat.versionWithEarlierLogs).
        """)
    }
    if let earlier, earlier.firstEpoch >= epoch { return nil }
    (self.size, self.end) = (size, end)
    (self.serial, isClosed) = (serial >> 1, serial & 1 == 1)
  }

  /// Describes a slot.
  init(
    epoch: UInt64, size: Int, end: Int = CommitLogFormat.firstBatch, isClosed: Bool = false,
    earlier: EarlierLogs? = nil
  ) {
    (self.epoch, self.size, self.end, self.isClosed) = (epoch, size, end, isClosed)
    self.earlier = earlier
  }

  /// Whether both say the same of the log.
  func agrees(with other: Self) -> Bool {
    (epoch, size, end, isClosed, earlier)
      == (other.epoch, other.size, other.end, other.isClosed, other.earlier)
  }

  /// Where the bytes before the first batch are not what is written there: valid slots, or none
  /// yet, and zeros behind them.
  static func changedRoom(_ bytes: [UInt8]) throws -> Int? {
    let size = CommitLogFormat.slotSize
    for index in [0, 1] {
      let slot = Array(bytes.dropFirst(index * size).prefix(size))
      if slot.allSatisfy({ $0 == 0 }) { continue }
      if try CommitLogSlot(slot)?.bytes != slot { return index * size }
    }
    return bytes.dropFirst(2 * size).firstIndex { $0 != 0 }
  }

  /// The valid slots of a log, with their places, 0 and 1, in the bytes before its first batch.
  static func read(_ bytes: ArraySlice<UInt8>) throws -> [(slot: CommitLogSlot, index: Int)] {
    try [0, 1].compactMap { index in
      let slot = bytes.dropFirst(index * CommitLogFormat.slotSize).prefix(length)
      return try CommitLogSlot(Array(slot)).map { ($0, index) }
    }
  }
}

extension CommitLogSlot {
  /// More earlier logs than this can't have been meant: each was left by a process that died.
  private static let mostEarlierLogs: UInt64 = 1 << 16

  /// The epochs of earlier logs that may be in no file yet: from the first one, or the one that the
  /// manifest names; nil for more than there can be.
  func neededEpochs(_ manifest: StoreManifest?) -> Range<UInt64>? {
    let first = max(earlier?.firstEpoch ?? epoch, min(manifest?.epoch ?? 0, epoch))
    return epoch - first <= Self.mostEarlierLogs ? first..<epoch : nil
  }
}

extension CommitLogSlot.EarlierLogs {
  /// Reads them; nil for numbers that make no sense.
  fileprivate init?(from buffer: inout DataBuffer) throws(DataBufferError) {
    firstEpoch = try buffer.readUInt64()
    guard let end = Int(exactly: try buffer.readUInt64()) else { return nil }
    self.end = end
    // Another number is one of a damaged slot, whose checksum is wrong.
    isSynced = try buffer.readUInt8() == 1
  }
}
