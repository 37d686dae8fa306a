import StoreEngine

/// The keys of ordered tables of an encrypted store, in their order, which the server can't know.
///
/// The first request for a range of a table reads all of its keys. From then on, the news of
/// commits keep them up to date.
struct SortedKeys: Sendable {
  private var tables: [OrderedTableID: [[UInt8]]] = [:]
  /// The number of the last commit whose changes are included.
  private(set) var number: UInt64

  /// The maximum number of changes that are applied one by one.
  private static let singleChangeCount = 16

  init(upTo number: UInt64) { self.number = number }

  /// Returns the keys of a table, as of ``number``; nil if they were not read.
  func keys(of table: OrderedTableID) -> [[UInt8]]? { tables[table] }

  /// Keeps the keys of a table as of a commit, unless there have been later commits.
  mutating func set(_ keys: [[UInt8]], of table: OrderedTableID, asOf number: UInt64) {
    if number == self.number { tables[table] = keys }
  }

  /// Applies the changes of a commit.
  ///
  /// Complexity: linear in the keys of the tables that it changes.
  mutating func note(_ changes: ChangeSet, _ number: UInt64) {
    self.number = number
    for change in changes.ordered {
      // Removed from the dictionary, so that the array is not copied.
      guard var keys = tables.removeValue(forKey: change.table) else { continue }
      if change.clearsFirst { keys = [] }
      if change.changes.count <= Self.singleChangeCount {
        for key in change.changes { Self.apply(key, of: changes, to: &keys) }
      } else {
        Self.merge(change.changes, of: changes, into: &keys)
      }
      tables[change.table] = keys
    }
  }

  /// Forgets the keys of a table.
  mutating func forget(_ table: OrderedTableID) { tables[table] = nil }

  /// Records that there were commits whose changes are unknown.
  mutating func loseTrack(upTo number: UInt64) { self = SortedKeys(upTo: number) }

  private static func apply(
    _ change: ChangeSet.KeyChange, of changes: ChangeSet, to keys: inout [[UInt8]]
  ) {
    let key = Array(changes.bytes[change.key])
    let index = keys.firstIndex(from: key)
    let isThere = index < keys.count && keys[index] == key
    if change.isRemoval, isThere { keys.remove(at: index) }
    if !change.isRemoval, !isThere { keys.insert(key, at: index) }
  }

  private static func merge(
    _ new: [ChangeSet.KeyChange], of changes: ChangeSet, into keys: inout [[UInt8]]
  ) {
    var isThere: [[UInt8]: Bool] = [:]
    for change in new { isThere[Array(changes.bytes[change.key])] = !change.isRemoval }
    keys.removeAll { isThere[$0] != nil }
    keys += isThere.lazy.filter(\.value).map(\.key)
    keys.sort { $0.lexicographicallyPrecedes($1) }
  }
}

extension [[UInt8]] {
  /// Returns the index of the first of the sorted keys that is not before a key.
  func firstIndex(from key: [UInt8]) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the indices of the sorted keys that are in a range.
  func indices(in range: KeyRange) -> Range<Int> {
    if range.isEmpty { return 0..<0 }
    let start = firstIndex(from: range.from)
    return start..<(range.to.map { firstIndex(from: $0) } ?? count)
  }
}
