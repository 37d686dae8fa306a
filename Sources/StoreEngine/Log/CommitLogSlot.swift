/// One of the two headers of a commit log; the newer one is in effect.
///
///     0    "SOCommit" | version (4) | serial (4) | epoch (8) | size (8) | end (8) |
///          earlier logs (17), in versions 3 and 5 | checksum (4)
///
/// Besides the epoch it states what must be there, so that a truncated log is not taken for a
/// shorter one. The lowest bit of the serial number is the closed flag: nothing has been written
/// after the end.
struct CommitLogSlot: Equatable, Comparable, Sendable {
  /// The serial number, which grows with every slot of an epoch.
  var serial: UInt32 = 0
  /// Whether all batches are on the disk, and none follows the end.
  var isClosed = false
  /// The epoch; batches of other epochs don't count.
  var epoch: UInt64
  /// The minimum size of the file.
  var size: Int
  /// The end of the epoch's batches, or an offset before it.
  var end: Int = CommitLogFormat.firstBatch
  /// The logs that were not in the files yet when this one began; nil if there were none.
  var earlier: EarlierLogs?
  /// The checksums of batches: plain in versions 2 and 3, until the log is emptied.
  var checksums = BatchChecksum.Order.reversedWords

  /// The logs that a store needs in addition to the one after them.
  struct EarlierLogs: Equatable, Sendable {
    /// The epoch of the first of them; there is one log for each epoch from here.
    var firstEpoch: UInt64
    /// The end of the last log's batches.
    var end: Int
    /// Whether all of them were on the disk when the next log began.
    var isSynced: Bool
  }

  /// The maximum number of bytes in use in a slot; the rest is zeros.
  static let length = 61

  /// Returns a random number for the first epoch of a log.
  ///
  /// So no content of a record looks like a batch of a later epoch, and a log is not taken for that
  /// of another store. The range ends so early that epochs never overflow.
  static func randomEpoch() -> UInt64 { .random(in: 1...(1 << 62)) }

  /// Whether the left slot is older.
  static func < (left: Self, right: Self) -> Bool {
    (left.epoch, left.serial) < (right.epoch, right.serial)
  }

  /// The bytes of the slot.
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

  /// Reads the first bytes of a slot; nil if they are not a valid slot.
  ///
  /// - Throws: ``StoreError`` with `damaged` for a slot of another version.
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
        The log has format \(fields.version), and this library can read formats up to \
        \(CommitLogFormat.versionWithEarlierLogs).
        """)
    }
    if let earlier = fields.earlier, earlier.firstEpoch >= fields.epoch { return nil }
    (self.size, self.end, earlier) = (size, end, fields.earlier)
    self.checksums = checksums
    (epoch, serial, isClosed) = (fields.epoch, fields.serial >> 1, fields.serial & 1 == 1)
  }

  /// The fields of a slot as they are written.
  private struct Fields {
    let version, serial, checksum: UInt32
    let epoch, size, end: UInt64
    var earlier: EarlierLogs?
    /// The number of bytes that the checksum covers.
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

    /// The checksums of batches; nil for an unknown version, or one that does not fit the fields.
    var checksums: BatchChecksum.Order? {
      if Self.hasEarlierLogs(version) && earlier == nil { return nil }
      switch version {
      case CommitLogFormat.version, CommitLogFormat.versionWithEarlierLogs: return .reversedWords
      case CommitLogFormat.plainVersion, CommitLogFormat.plainVersionWithEarlierLogs: return .plain
      default: return nil
      }
    }
  }

  /// Creates a slot.
  init(
    epoch: UInt64, size: Int, end: Int = CommitLogFormat.firstBatch, isClosed: Bool = false,
    earlier: EarlierLogs? = nil
  ) {
    (self.epoch, self.size, self.end, self.isClosed) = (epoch, size, end, isClosed)
    self.earlier = earlier
  }

  /// Whether both slots describe the same state of the log.
  func agrees(with other: Self) -> Bool {
    (epoch, size, end, isClosed, earlier)
      == (other.epoch, other.size, other.end, other.isClosed, other.earlier)
  }

  /// Returns the offset at which the bytes before the first batch were changed, or nil.
  ///
  /// These bytes are valid slots or zeros, with zeros after them.
  static func changedRoom(_ bytes: [UInt8]) throws(StoreError) -> Int? {
    let size = CommitLogFormat.slotSize
    for index in [0, 1] {
      let slot = Array(bytes.dropFirst(index * size).prefix(size))
      if slot.allSatisfy({ $0 == 0 }) { continue }
      if try CommitLogSlot(slot)?.bytes != slot { return index * size }
    }
    return bytes.dropFirst(2 * size).firstIndex { $0 != 0 }
  }

  /// Returns the valid slots in the bytes before the first batch, with their indexes, 0 and 1.
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
  /// The maximum number of earlier logs; each process that dies leaves one, so more means damage.
  private static let mostEarlierLogs: UInt64 = 1 << 16

  /// Returns the epochs of logs that may not be in the files yet; nil if there are too many.
  ///
  /// They begin with the first epoch of this slot or the epoch of the manifest, whichever is later.
  func neededEpochs(_ manifest: StoreManifest?) -> Range<UInt64>? {
    let first = max(earlier?.firstEpoch ?? epoch, min(manifest?.epoch ?? 0, epoch))
    return epoch - first <= Self.mostEarlierLogs ? first..<epoch : nil
  }
}

extension CommitLogSlot.EarlierLogs {
  /// Reads the fields; nil for invalid numbers.
  fileprivate init?(from buffer: inout DataBuffer) throws(DataBufferError) {
    firstEpoch = try buffer.readUInt64()
    guard let end = Int(exactly: try buffer.readUInt64()) else { return nil }
    self.end = end
    // Other values occur only in a damaged slot, whose checksum is wrong.
    isSynced = try buffer.readUInt8() == 1
  }
}
