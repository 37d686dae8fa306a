/// One of the two headers of a commit log, which stands for the log when it is the newer one.
///
///     0    "SOCommit" | version (4) | serial (4) | epoch (8) | size (8) | end (8) |
///          earlier logs (17), in versions 3 and 5 | checksum (4)
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
  /// How the batches are summed up: in versions 2 and 3 byte by byte, which an emptied log gives up.
  var checksums = BatchChecksum.Order.reversedWords

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
    buffer.write(version)
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

  private var version: UInt32 {
    switch (checksums, earlier) {
    case (.reversedWords, nil): CommitLogFormat.version
    case (.reversedWords, _): CommitLogFormat.versionWithEarlierLogs
    case (.plain, nil): CommitLogFormat.plainVersion
    case (.plain, _): CommitLogFormat.plainVersionWithEarlierLogs
    }
  }

  /// Understands the first bytes of a slot; nil when they are none.
  ///
  /// - Throws: ``StoreError`` with `damaged` for one of another version.
  init?(_ bytes: [UInt8]) throws(StoreError) {
    guard bytes.count >= Self.length, bytes.starts(with: CommitLogFormat.magic) else { return nil }
    let fields: Fields
    do throws(DataBufferError) { fields = try Fields(bytes) } catch { throw .inSave(error) }
    let expected = CommitLogFormat.checksum(Array(bytes[..<fields.checkedCount]))
    guard fields.checksum == expected, let size = Int(exactly: fields.size),
      let end = Int(exactly: fields.end)
    else { return nil }
    guard let checksums = fields.checksums else {
      throw StoreError(
        .damaged,
        """
        The log has format \(fields.version); this library knows those up to \
        \(CommitLogFormat.versionWithEarlierLogs).
        """)
    }
    if let earlier = fields.earlier, earlier.firstEpoch >= fields.epoch { return nil }
    (self.size, self.end, earlier) = (size, end, fields.earlier)
    self.checksums = checksums
    (epoch, serial, isClosed) = (fields.epoch, fields.serial >> 1, fields.serial & 1 == 1)
  }

  /// The numbers of a slot as they are written.
  private struct Fields {
    let version, serial, checksum: UInt32
    let epoch, size, end: UInt64
    var earlier: EarlierLogs?
    /// How many bytes the checksum is of.
    let checkedCount: Int

    init(_ bytes: [UInt8]) throws(DataBufferError) {
      var buffer = DataBuffer(Array(bytes[..<CommitLogSlot.length]))
      try buffer.skip(CommitLogFormat.magic.count)
      (version, serial) = (try buffer.readUInt32(), try buffer.readUInt32())
      epoch = try buffer.readUInt64()
      (size, end) = (try buffer.readUInt64(), try buffer.readUInt64())
      if Self.hasEarlierLogs(version) { earlier = try EarlierLogs(from: &buffer) }
      checkedCount = buffer.offset
      checksum = try buffer.readUInt32()
    }

    private static func hasEarlierLogs(_ version: UInt32) -> Bool {
      version == CommitLogFormat.versionWithEarlierLogs
        || version == CommitLogFormat.plainVersionWithEarlierLogs
    }

    /// How the batches are summed up; nil for a version that is not known, or makes no sense.
    var checksums: BatchChecksum.Order? {
      if Self.hasEarlierLogs(version) && earlier == nil { return nil }
      switch version {
      case CommitLogFormat.version, CommitLogFormat.versionWithEarlierLogs: return .reversedWords
      case CommitLogFormat.plainVersion, CommitLogFormat.plainVersionWithEarlierLogs: return .plain
      default: return nil
      }
    }
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
  static func changedRoom(_ bytes: [UInt8]) throws(StoreError) -> Int? {
    let size = CommitLogFormat.slotSize
    for index in [0, 1] {
      let slot = Array(bytes.dropFirst(index * size).prefix(size))
      if slot.allSatisfy({ $0 == 0 }) { continue }
      if try CommitLogSlot(slot)?.bytes != slot { return index * size }
    }
    return bytes.dropFirst(2 * size).firstIndex { $0 != 0 }
  }

  /// The valid slots of a log, with their places, 0 and 1, in the bytes before its first batch.
  static func read(_ bytes: ArraySlice<UInt8>) throws(StoreError) -> [(
    slot: CommitLogSlot, index: Int
  )] {
    var slots: [(slot: CommitLogSlot, index: Int)] = []
    for index in [0, 1] {
      let slot = bytes.dropFirst(index * CommitLogFormat.slotSize).prefix(length)
      if let slot = try CommitLogSlot(Array(slot)) { slots.append((slot, index)) }
    }
    return slots
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
