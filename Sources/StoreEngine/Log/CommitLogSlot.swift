/// One of the two headers of a commit log, which stands for the log when it is the newer one.
///
///     0    "SOCommit" | version (4) | serial (4) | epoch (8) | size (8) | end (8) | checksum (4)
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

  /// How many bytes of a slot mean anything; the rest is zeros.
  static let length = 44

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
    buffer.write(CommitLogFormat.version)
    buffer.write(serial << 1 | (isClosed ? 1 : 0))
    buffer.write(epoch)
    buffer.write(UInt64(size))
    buffer.write(UInt64(end))
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
    let expected = CommitLogFormat.checksum(Array(bytes[..<(Self.length - 4)]))
    guard try buffer.readUInt32() == expected, let size, let end else { return nil }
    guard version == CommitLogFormat.version else {
      throw StoreError(
        .damaged, "The log has format \(version); this library knows \(CommitLogFormat.version).")
    }
    (self.size, self.end) = (size, end)
    (self.serial, isClosed) = (serial >> 1, serial & 1 == 1)
  }

  /// Describes a slot.
  init(
    epoch: UInt64, size: Int, end: Int = CommitLogFormat.firstBatch, isClosed: Bool = false
  ) {
    (self.epoch, self.size, self.end, self.isClosed) = (epoch, size, end, isClosed)
  }

  /// Whether both say the same of the log.
  func agrees(with other: Self) -> Bool {
    (epoch, size, end, isClosed) == (other.epoch, other.size, other.end, other.isClosed)
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
