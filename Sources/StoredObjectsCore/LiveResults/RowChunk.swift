/// A part of a sorted list of rows: up to a few hundred, with their sort keys concatenated.
struct RowChunk {
  /// The size above which a chunk is split in two.
  static let greatestCount = 512
  /// The size below which a chunk is joined with the next one, if both fit into half a chunk.
  static let leastCount = 96

  /// Identifies the chunk in its list, independent of its place.
  let id: Int
  /// The rows in order, as ``RowRank/tie``.
  private(set) var ties: [UInt64] = []
  /// The end of each row's key.
  private var ends: [Int] = []
  private var keys: [UInt8] = []

  init(id: Int) { self.id = id }

  var count: Int { ties.count }

  private func start(_ offset: Int) -> Int { offset == 0 ? 0 : ends[offset - 1] }

  /// Returns the rank of the row at an offset.
  func rank(_ offset: Int) -> RowRank {
    RowRank(key: Array(keys[start(offset)..<ends[offset]]), tie: ties[offset])
  }

  /// Whether the row at an offset comes before a rank.
  func isBefore(_ offset: Int, _ rank: RowRank) -> Bool {
    let start = start(offset)
    let count = ends[offset] - start
    for index in 0..<min(count, rank.key.count) {
      let byte = keys[start + index]
      if byte != rank.key[index] { return byte < rank.key[index] }
    }
    return count == rank.key.count ? ties[offset] < rank.tie : count < rank.key.count
  }

  /// Returns the offset of the first row that is not before a rank; the count if all are before it.
  func offset(of rank: RowRank) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle, rank) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func append(_ rank: RowRank) {
    ties.append(rank.tie)
    keys += rank.key
    ends.append(keys.count)
  }

  mutating func insert(_ rank: RowRank, at offset: Int) {
    let start = start(offset)
    ties.insert(rank.tie, at: offset)
    keys.insert(contentsOf: rank.key, at: start)
    ends.insert(start, at: offset)
    for index in offset..<ends.count { ends[index] += rank.key.count }
  }

  mutating func remove(at offset: Int) {
    let (start, end) = (start(offset), ends[offset])
    ties.remove(at: offset)
    keys.removeSubrange(start..<end)
    ends.remove(at: offset)
    for index in offset..<ends.count { ends[index] -= end - start }
  }

  /// Moves the second half of the rows into a new chunk.
  mutating func split(id: Int) -> RowChunk {
    let (half, keyStart) = (count / 2, start(count / 2))
    var second = RowChunk(id: id)
    second.ties = Array(ties[half...])
    second.keys = Array(keys[keyStart...])
    second.ends = ends[half...].map { $0 - keyStart }
    ties.removeSubrange(half...)
    ends.removeSubrange(half...)
    keys.removeSubrange(keyStart...)
    return second
  }

  /// Appends the rows of the next chunk.
  mutating func append(_ other: RowChunk) {
    let keyStart = keys.count
    ties += other.ties
    keys += other.keys
    ends += other.ends.map { $0 + keyStart }
  }
}

/// The rank of a row among others: the bytes of its sort key, and a tie-breaker for equal keys.
struct RowRank: Equatable {
  let key: [UInt8]
  /// The class ID and row ID, with all bits inverted if the last order is descending.
  let tie: UInt64

  static func < (left: RowRank, right: RowRank) -> Bool {
    if left.key != right.key { return left.key.lexicographicallyPrecedes(right.key) }
    return left.tie < right.tie
  }
}
