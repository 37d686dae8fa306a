/// The commit log on disk.
///
/// All integers are little-endian; <doc:CommitLogFormat> has an example.
///
///     0      slot A   | see CommitLogSlot | zeros up to 512
///     512    slot B   | the same, of another moment
///     4096   batch    | length (8) | epoch (8) | sequence (8) | checksum (4) | kind (4) | payload
///                           kind: 1 changes, 2 checkpoint, 3 changes
///                           with ordered tables, 4 commit, 5 bulk commit,
///                           6 checkpoint of earlier logs;
///                           the highest bit: not synced
///            batch    ...
///            room that is set aside, or batches of earlier epochs
///
/// The newer slot counts: that of the higher epoch, or of more batches. A batch belongs to the log
/// if its epoch is the slot's, its sequence is one more than that of the batch before it (the first
/// has 0), and its checksum is right. So a log is emptied by writing the *older* slot with the next
/// epoch: one sector, after which no earlier batch counts.
enum CommitLogFormat {
  static let magic = Array("SOCommit".utf8)
  static let version: UInt32 = 4
  /// The version of a log that began while an earlier one was still needed.
  static let versionWithEarlierLogs: UInt32 = 5
  /// The same two with the checksums of before.
  static let plainVersion: UInt32 = 2
  static let plainVersionWithEarlierLogs: UInt32 = 3
  /// Slots are a sector apart, so that writing one never harms the other.
  static let slotSize = 512
  /// Batches begin here.
  static let firstBatch = 4096
  static let batchHeaderSize = 32
  /// Batches begin at multiples of this.
  static let alignment = 8

  /// What a batch holds.
  ///
  /// Other numbers belong to later versions.
  enum Kind: UInt32 {
    /// A save of before commits had numbers: ``ChangeSet``.
    case changes = 1
    /// A checkpoint: new class files are ready, and hold everything that stands before this batch.
    case checkpoint = 2
    /// The same with ordered tables.
    case orderedChanges = 3
    /// A save: ``Commit``, and its ``ChangeSet``.
    case commit = 4
    /// A save that goes past the log: ``Commit``, and the checkpoint that it is.
    case bulkCommit = 5
    /// A checkpoint of the logs before this one: the last ``Commit`` in them, and new class files
    /// that hold all of them, and nothing of this log.
    case earlierCheckpoint = 6

    /// Whether new class files are ready.
    var isCheckpoint: Bool {
      self == .checkpoint || self == .bulkCommit || self == .earlierCheckpoint
    }
    /// Whether new class files are ready that hold everything before this batch.
    var coversLog: Bool { self == .checkpoint || self == .bulkCommit }
    /// Whether the batch is a commit, with which its payload begins.
    var hasCommit: Bool { self == .commit || self == .bulkCommit }
  }

  /// Where the batch behind one of this payload begins.
  static func end(ofBatchAt offset: Int, payload: Int) -> Int {
    let end = offset + batchHeaderSize + payload
    return (end + alignment - 1) / alignment * alignment
  }

  /// How many bytes are still read to tell whole batches behind damage from what looks like them.
  ///
  /// Batches don't overlap, so that all of them together are no longer than the log. What has the
  /// headers of more was made to take time.
  struct Effort {
    private var bytesLeft: Int

    /// Enough for a part of a log of some size, several times over.
    init(size: Int) { bytesLeft = 8 * size + (1 << 20) }

    /// Takes away what a batch costs; false when there is not so much left.
    mutating func spend(_ count: Int) -> Bool {
      bytesLeft -= count + CommitLogFormat.batchHeaderSize
      return bytesLeft >= 0
    }
  }

  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(bytes.span)
    return checksum.value
  }

  /// The header of a batch, whose checksum covers the header's other fields and the payload.
  struct BatchHeader: Equatable {
    var length: UInt64
    var epoch: UInt64
    var sequence: UInt64
    var kind: UInt32
    /// Whether the batch, and with it all before it, was brought to the disk at once.
    var isSynced = true

    /// The checksum of this header and a payload in pieces.
    func checksum(_ payload: [[UInt8]], _ order: BatchChecksum.Order) -> UInt32 {
      var checksum = BatchChecksum(order)
      checksum.update(fields(checksum: nil))
      for piece in payload { checksum.update(piece.span) }
      return checksum.value()
    }

    /// Whether a checksum is that of this header and a payload, in one of several orders.
    func matches(
      _ checksum: UInt32, _ payload: [[UInt8]], _ orders: [BatchChecksum.Order]
    ) -> Bool {
      orders.contains { self.checksum(payload, $0) == checksum }
    }

    private static let unsyncedBit: UInt32 = 1 << 31
    private var kindField: UInt32 { isSynced ? kind : kind | Self.unsyncedBit }

    /// Appends a whole batch, header and payload.
    func append(_ payload: [[UInt8]], to bytes: inout [UInt8], _ order: BatchChecksum.Order) {
      bytes.append(fields(checksum: checksum(payload, order)))
      for piece in payload { bytes += piece }
    }

    /// The header alone, before a payload that is written in pieces.
    func bytes(before payload: [[UInt8]], _ order: BatchChecksum.Order) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(fields(checksum: checksum(payload, order)))
      return bytes
    }

    /// The header; nil leaves the checksum out.
    private func fields(checksum: UInt32?) -> IntegerBytes {
      var fields = IntegerBytes()
      fields.add(length)
      fields.add(epoch)
      fields.add(sequence)
      if let checksum { fields.add(checksum) }
      fields.add(kindField)
      return fields
    }

    static func read(_ bytes: [UInt8]) -> (BatchHeader, checksum: UInt32)? {
      var buffer = DataBuffer(bytes)
      guard let length = try? buffer.readUInt64(), let epoch = try? buffer.readUInt64(),
        let sequence = try? buffer.readUInt64(), let checksum = try? buffer.readUInt32(),
        let kind = try? buffer.readUInt32()
      else { return nil }
      return (
        BatchHeader(
          length: length, epoch: epoch, sequence: sequence, kind: kind & ~unsyncedBit,
          isSynced: kind & unsyncedBit == 0),
        checksum
      )
    }
  }
}
