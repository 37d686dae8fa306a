import Locks
import Synchronization

/// Collects, for one store, the rows that other stores on the backend have rewritten or removed.
final class ChangeInbox: Sendable {
  private let rows = Locked(ChangedRows())
  private let isFilled = Atomic(false)

  /// Whether ``take()`` would return anything.
  var hasNews: Bool { isFilled.load(ordering: .acquiring) }

  /// Takes note of a commit.
  ///
  /// Inserts change nothing that another store could hold.
  func receive(_ changes: ChangeSet) {
    rows.withLock { rows in
      for table in changes.tables {
        for change in table.records where change.kind != .insert && change.rowID > 1 {
          rows.insert(change.rowID, in: table.table)
        }
      }
      isFilled.store(!rows.isEmpty, ordering: .releasing)
    }
  }

  /// The rows since the last call, by table.
  func take() -> ChangedRows {
    guard hasNews else { return ChangedRows() }
    return rows.withLock { rows in
      defer { rows = ChangedRows() }
      isFilled.store(false, ordering: .releasing)
      return rows
    }
  }
}
