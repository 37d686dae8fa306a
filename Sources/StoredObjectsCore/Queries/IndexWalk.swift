import Files
import StoreEngine

/// A walk through parts of an index that yields rows and reads a few hundred keys at a time.
///
/// The store may save between two rows: the walk continues after the last key that it read.
struct IndexWalk {
  private static let batchCount = 256

  private let backend: any StoreBackend
  private let table: OrderedTableID
  private let isReversed: Bool
  /// The ranges that are left, the next one last.
  private var ranges: [KeyRange]
  private var rows: [UInt32] = []
  private var index = 0
  private var size: Int

  /// Creates a walk; `wanted` is the number of rows that the caller needs, if known.
  init(_ backend: any StoreBackend, _ part: IndexRanges, isReversed: Bool, wanted: Int? = nil) {
    (self.backend, table, self.isReversed) = (backend, part.index.table, isReversed)
    size = min(Self.batchCount, max(wanted ?? 16, 1))
    ranges = isReversed ? part.ranges : part.ranges.reversed()
  }

  /// Whether the next row needs another read of the index.
  var isAtEndOfBatch: Bool { index == rows.count }

  /// Skips the keys up to and including a key.
  mutating func goOn(after key: [UInt8]) {
    ranges = ranges.compactMap { range in
      var rest = range
      if isReversed {
        if rest.to.map({ key.lexicographicallyPrecedes($0) }) ?? true { rest.to = key }
      } else if !key.lexicographicallyPrecedes(rest.from) {
        rest.from = key + [0]
      }
      return rest.isEmpty ? nil : rest
    }
  }

  /// Returns the next row, or nil at the end.
  mutating func next() throws -> UInt32? {
    while index == rows.count {
      guard let range = ranges.popLast() else { return nil }
      try read(range)
    }
    defer { index += 1 }
    return rows[index]
  }

  private mutating func read(_ range: KeyRange) throws {
    index = 0
    var found = rows
    rows = []
    found.removeAll(keepingCapacity: true)
    var last: [UInt8] = []
    let limit = size
    found.reserveCapacity(limit)
    let isDone = try backend.scanKeys(of: table, range, isReversed: isReversed) { key, _ in
      found.append(RegisteredIndex.row(key))
      guard found.count == limit else { return .next }
      last = [UInt8](copying: key)
      return .pause
    }
    rows = found
    // Batches start small: a caller that wants only the first rows doesn't wait for many.
    size = min(Self.batchCount, size * 4)
    if isDone { return }
    ranges.append(
      isReversed
        ? KeyRange(from: range.from, to: last) : KeyRange(after: last, to: range.to))
  }
}
