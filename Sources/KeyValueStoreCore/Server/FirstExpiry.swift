import StoreEngine

/// The first key of each ordered table of expiry times, or one before it, so that a write need not
/// ask a server for what has expired while nothing can have.
struct FirstExpiry: Sendable {
  /// Nil inside the optional for an empty table; tables that nobody has looked at are not there.
  private var keys: [OrderedTableID: [UInt8]?] = [:]
  /// Changes with each commit, for looks that a commit overtakes.
  private(set) var number = 0

  /// Whether there may be a key in a range that begins with the first.
  func mayHaveKeys(_ table: OrderedTableID, in range: KeyRange) -> Bool {
    guard let known = keys[table] else { return true }
    return known.map { range.contains($0) } ?? false
  }

  /// Takes note of the first key that was found, unless there were commits since.
  mutating func set(_ key: [UInt8]?, of table: OrderedTableID, asOf number: Int) {
    if number == self.number { keys[table] = .some(key) }
  }

  /// Takes note of a commit.
  ///
  /// Keys that are removed stay: nobody relies on the first one being there.
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

  /// Takes note of commits that nobody knows.
  mutating func loseTrack() {
    number += 1
    keys = [:]
  }
}
