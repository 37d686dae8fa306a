import Synchronization

/// Collects, for one store, the rows that other stores on the backend have rewritten or removed.
final class ChangeInbox: Sendable {
  private let rows = Mutex<[TableID: Set<UInt32>]>([:])

  /// Takes note of a commit. Inserts change nothing that another store could hold.
  func receive(_ changes: ChangeSet) {
    rows.withLock { rows in
      for table in changes.tables {
        for change in table.records where change.kind != .insert && change.rowID > 1 {
          rows[table.table, default: []].insert(change.rowID)
        }
      }
    }
  }

  /// The rows since the last call, by table.
  func take() -> [TableID: Set<UInt32>] {
    rows.withLock { rows in
      defer { rows = [:] }
      return rows
    }
  }
}
