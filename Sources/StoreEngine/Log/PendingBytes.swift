/// The bytes of the pending saves, without those that later saves have replaced.
///
/// While files can't be written, the same rows may be saved again and again, and memory would grow
/// with each save.
struct PendingBytes: Sendable {
  private struct Batch: Sendable {
    var bytes: [UInt8]
    /// The number of bytes of records and named buffers that no later save has replaced.
    var needed: Int
  }

  private var batches: [Batch] = []
  /// The number of bytes in memory.
  private(set) var heldCount = 0
  /// The number of bytes that are needed.
  private(set) var neededCount = 0

  init() {}

  /// Creates a single batch, all of which is needed.
  init(all bytes: [UInt8]) {
    batches = [Batch(bytes: bytes, needed: bytes.count)]
    (heldCount, neededCount) = (bytes.count, bytes.count)
  }

  /// The number of batches, which is also the number of the next batch.
  var count: Int { batches.count }

  subscript(batch: Int) -> [UInt8] { batches[batch].bytes }

  /// Adds the bytes of a save; those of ordered tables are also kept elsewhere.
  mutating func append(_ changes: ChangeSet) {
    var needed = changes.names.reduce(0) { $0 + ($1.range?.count ?? 0) }
    for table in changes.tables {
      for record in table.records where record.kind != .delete { needed += record.range.count }
    }
    let bytes = needed == 0 ? [] : changes.bytes
    batches.append(Batch(bytes: bytes, needed: needed))
    heldCount += bytes.count
    neededCount += needed
  }

  /// Records that some bytes of a batch are no longer needed; frees the batch if none are.
  mutating func release(_ count: Int, of batch: Int) {
    // A save that another program has written may change a row twice.
    guard batches.indices.contains(batch) else { return }
    neededCount -= count
    batches[batch].needed -= count
    guard batches[batch].needed == 0, count > 0 else { return }
    heldCount -= batches[batch].bytes.count
    batches[batch].bytes = []
  }

  /// Whether the sums match the batches.
  var isConsistent: Bool {
    heldCount == batches.reduce(0) { $0 + $1.bytes.count }
      && neededCount == batches.reduce(0) { $0 + $1.needed }
  }

  /// The number of unneeded bytes to tolerate; a log with timely checkpoints has fewer.
  private static let slack = 16 << 20

  /// Whether most of the bytes in memory are not needed.
  var isWasteful: Bool { heldCount > 2 * neededCount + Self.slack }
}

extension Dictionary {
  /// Reserves room for many more keys at once; for a few, the dictionary grows as needed.
  mutating func reserveRoom(for count: Int) {
    if count > self.count { reserveCapacity(self.count + count) }
  }

  /// Replaces each value by the result of a closure.
  mutating func mapInPlace(_ transform: (Value) -> Value) {
    var index = values.startIndex
    while index != values.endIndex {
      values[index] = transform(values[index])
      values.formIndex(after: &index)
    }
  }
}
