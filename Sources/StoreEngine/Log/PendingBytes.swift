/// The bytes of the saves that are pending, without those that later saves have replaced.
///
/// While files can't be written, the same rows may be saved again and again, and memory would grow
/// with each.
struct PendingBytes: Sendable {
  private struct Batch: Sendable {
    var bytes: [UInt8]
    /// How many of them are of records and named buffers that no later save has replaced.
    var needed: Int
  }

  private var batches: [Batch] = []
  /// How many bytes are held.
  private(set) var heldCount = 0
  /// How many of them are needed.
  private(set) var neededCount = 0

  init() {}

  /// One batch, all of which is needed.
  init(all bytes: [UInt8]) {
    batches = [Batch(bytes: bytes, needed: bytes.count)]
    (heldCount, neededCount) = (bytes.count, bytes.count)
  }

  /// The number of the next batch.
  var count: Int { batches.count }

  subscript(batch: Int) -> [UInt8] { batches[batch].bytes }

  /// Adds the bytes of a save; those of ordered tables are kept elsewhere, too.
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

  /// Takes note that some bytes of a batch are needed no more; the last ones take all of it with
  /// them.
  mutating func release(_ count: Int, of batch: Int) {
    // A save that some program has written may change a row twice.
    guard batches.indices.contains(batch) else { return }
    neededCount -= count
    batches[batch].needed -= count
    guard batches[batch].needed == 0, count > 0 else { return }
    heldCount -= batches[batch].bytes.count
    batches[batch].bytes = []
  }

  /// Whether the sums are those of the batches.
  var isConsistent: Bool {
    heldCount == batches.reduce(0) { $0 + $1.bytes.count }
      && neededCount == batches.reduce(0) { $0 + $1.needed }
  }

  /// So much more than what is needed is not worth the copying; a log that is folded in time has
  /// less.
  private static let slack = 16 << 20

  /// Whether most of what is held is not needed.
  var isWasteful: Bool { heldCount > 2 * neededCount + Self.slack }
}

extension Dictionary {
  /// Makes room for many more keys at once; for few, the dictionary grows as it needs to.
  mutating func reserveRoom(for count: Int) {
    if count > self.count { reserveCapacity(self.count + count) }
  }

  /// Replaces each value by what a closure makes of it.
  mutating func mapInPlace(_ transform: (Value) -> Value) {
    var index = values.startIndex
    while index != values.endIndex {
      values[index] = transform(values[index])
      values.formIndex(after: &index)
    }
  }
}
