import StoreEngine

/// Ordered tables that were empty as of the last commit that this process knows.
struct EmptyTables: Sendable {
  private(set) var tables: Set<OrderedTableID> = []
  /// Changes with each commit that may have put keys.
  private(set) var number = 0

  /// Adds a table that was found empty, unless there were commits since.
  mutating func add(_ table: OrderedTableID, asOf number: Int) {
    if number == self.number { tables.insert(table) }
  }

  /// Takes note of a commit.
  mutating func note(_ changes: ChangeSet) {
    if changes.ordered.isEmpty { return }
    number += 1
    for change in changes.ordered { tables.remove(change.table) }
  }

  /// Takes note of commits that nobody knows.
  mutating func loseTrack() {
    number += 1
    tables = []
  }
}
