import StoreEngine

/// The first key of each table of expiry times, or a lower bound of it.
///
/// With it, a write does not need to ask a server for expired items while there can be none.
struct FirstExpiry: Sendable {
  /// The first keys: `.some(nil)` for an empty table, missing for a table that was not read.
  private var keys: [OrderedTableID: [UInt8]?] = [:]
  /// A number that changes with each commit, to detect a commit during a read.
  private(set) var number = 0

  /// Returns whether there may be keys in a range without a lower bound.
  func mayHaveKeys(_ table: OrderedTableID, in range: KeyRange) -> Bool {
    guard let known = keys[table] else { return true }
    return known.map { range.contains($0) } ?? false
  }

  /// Records the first key that was found, unless there were commits since.
  mutating func set(_ key: [UInt8]?, of table: OrderedTableID, asOf number: Int) {
    if number == self.number { keys[table] = .some(key) }
  }

  /// Records a commit.
  ///
  /// Removed keys stay, since the first key need not exist.
  mutating func note(_ changes: ChangeSet) {
    for change in changes.ordered where !change.isEmpty {
      number += 1
      guard var first = keys[change.table] else { continue }
      for put in change.changes where !put.isRemoval {
        let key = Array(changes.bytes[put.key])
        if first.map({ key.lexicographicallyPrecedes($0) }) ?? true { first = key }
      }
      keys[change.table] = .some(first)
    }
  }

  /// Records that commits were missed.
  mutating func loseTrack() {
    number += 1
    keys = [:]
  }
}
