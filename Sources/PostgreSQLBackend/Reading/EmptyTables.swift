import StoreEngine

/// Ordered tables that were empty as of the last commit that this process knows.
struct EmptyTables: Sendable {
  private(set) var tables: Set<OrderedTableID> = []
  /// A number that changes with each commit that may have added keys.
  private(set) var number = 0

  /// Adds a table that was found empty, unless there have been commits since then.
  mutating func add(_ table: OrderedTableID, asOf number: Int) {
    if number == self.number { tables.insert(table) }
  }

  /// Records a commit.
  mutating func note(_ changes: ChangeSet) {
    if changes.ordered.isEmpty { return }
    number += 1
    for change in changes.ordered { tables.remove(change.table) }
  }

  /// Records that there were commits whose changes are unknown.
  mutating func loseTrack() {
    number += 1
    tables = []
  }
}
