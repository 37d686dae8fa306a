import Files

/// The format of the commit log on disk.
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
/// The newer slot counts: the one with the higher epoch, or with the higher serial number. A batch
/// belongs to the log if its epoch is that of the slot, its checksum is right, and its sequence
/// number follows that of the batch before it (the first has 0). So a log is emptied by overwriting
/// the *older* slot with the next epoch: one sector, after which no earlier batch counts.
enum CommitLogFormat {
  static let magic = Array("SOCommit".utf8)
  static let version: UInt32 = 4
  /// The version of a log that began while an earlier log was still needed.
  static let versionWithEarlierLogs: UInt32 = 5
  /// The same two versions with plain checksums.
  static let plainVersion: UInt32 = 2
  static let plainVersionWithEarlierLogs: UInt32 = 3
  /// The distance of the slots, one sector, so that writing one never harms the other.
  static let slotSize = 512
  /// The offset of the first batch.
  static let firstBatch = 4096
  static let batchHeaderSize = 32
  /// The alignment of batches.
  static let alignment = 8

  /// The kind of a batch.
  ///
  /// Other numbers belong to later versions.
  enum Kind: UInt32 {
    /// A save from before commits had numbers: a ``ChangeSet``.
    case changes = 1
    /// A checkpoint: new class files are complete, and hold everything before this batch.
    case checkpoint = 2
    /// A save from before commits had numbers, with ordered tables.
    case orderedChanges = 3
    /// A save: a ``Commit`` and its ``ChangeSet``.
    case commit = 4
    /// A save that bypasses the log: a ``Commit`` and its checkpoint.
    case bulkCommit = 5
    /// A checkpoint of the earlier logs: the last ``Commit`` in them, and new class files.
    ///
    /// The files hold everything in the earlier logs, and nothing of this one.
    case earlierCheckpoint = 6

    /// Whether the batch announces new class files.
    var isCheckpoint: Bool {
      self == .checkpoint || self == .bulkCommit || self == .earlierCheckpoint
    }
    /// Whether the batch announces new class files that hold everything before it.
    var coversLog: Bool { self == .checkpoint || self == .bulkCommit }
    /// Whether the payload begins with a commit.
    var hasCommit: Bool { self == .commit || self == .bulkCommit }
  }

  /// Returns the offset of the batch after one with this payload size.
  static func end(ofBatchAt offset: Int, payload: Int) -> Int {
    let end = offset + batchHeaderSize + payload
    return (end + alignment - 1) / alignment * alignment
  }

  /// The number of bytes that may still be read to tell whole batches after damage from noise.
  ///
  /// Batches don't overlap, so together they are no longer than the log. A log with headers of more
  /// bytes was crafted to waste time.
  struct Effort {
    private var bytesLeft: Int

    /// Allows several times the size of a part of a log.
    init(size: Int) { bytesLeft = 8 * size + (1 << 20) }

    /// Subtracts the cost of a batch; returns false if it exceeds the rest.
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

  /// The header of a batch, whose checksum covers the other fields and the payload.
  struct BatchHeader: Equatable {
    var length: UInt64
    var epoch: UInt64
    var sequence: UInt64
    var kind: UInt32
    /// Whether the batch, and everything before it, was synced when it was written.
    var isSynced = true

    /// Returns the checksum of this header and a payload in pieces.
    func checksum(_ payload: [[UInt8]], _ order: BatchChecksum.Order) -> UInt32 {
      var checksum = begunChecksum(order)
      for piece in payload { checksum.update(piece.span) }
      return checksum.value()
    }

    /// Whether a checksum matches this header and a payload.
    func matches(_ checksum: UInt32, _ payload: [UInt8], _ order: BatchChecksum.Order) -> Bool {
      var found = begunChecksum(order)
      found.update(payload.span)
      return found.value() == checksum
    }

    private func begunChecksum(_ order: BatchChecksum.Order) -> BatchChecksum {
      var checksum = BatchChecksum(order)
      checksum.update(fields(checksum: nil))
      return checksum
    }

    private static let unsyncedBit: UInt32 = 1 << 31
    private var kindField: UInt32 { isSynced ? kind : kind | Self.unsyncedBit }

    /// Appends a whole batch: header and payload.
    func append(_ payload: [[UInt8]], to bytes: inout [UInt8], _ order: BatchChecksum.Order) {
      bytes.append(fields(checksum: checksum(payload, order)))
      for piece in payload { bytes += piece }
    }

    /// Returns the header alone, for a payload that is written in pieces.
    func bytes(before payload: [[UInt8]], _ order: BatchChecksum.Order) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(fields(checksum: checksum(payload, order)))
      return bytes
    }

    /// Returns the fields of the header; without the checksum if it is nil.
    private func fields(checksum: UInt32?) -> IntegerBytes {
      var fields = IntegerBytes()
      fields.add(length)
      fields.add(epoch)
      fields.add(sequence)
      if let checksum { fields.add(checksum) }
      fields.add(kindField)
      return fields
    }

    /// Reads a header and its checksum; nil if there are too few bytes.
    static func read(_ bytes: [UInt8]) -> (BatchHeader, checksum: UInt32)? {
      bytes.lend { read($0) }
    }

    /// Reads a header and its checksum; nil if there are too few bytes.
    static func read(_ bytes: RawSpan) -> (BatchHeader, checksum: UInt32)? {
      guard bytes.byteCount >= batchHeaderSize else { return nil }
      let kind = bytes.loadUInt32(at: 28, isBigEndian: false)
      let header = BatchHeader(
        length: bytes.loadUInt64(at: 0, isBigEndian: false),
        epoch: bytes.loadUInt64(at: 8, isBigEndian: false),
        sequence: bytes.loadUInt64(at: 16, isBigEndian: false),
        kind: kind & ~unsyncedBit, isSynced: kind & unsyncedBit == 0)
      return (header, bytes.loadUInt32(at: 24, isBigEndian: false))
    }
  }
}
