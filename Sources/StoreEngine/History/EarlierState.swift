/// The rows, named buffers and keys that have changed since a commit, with their values at that
/// commit.
struct EarlierState {
  /// The numbers of the later commits, in order.
  private(set) var laterCommits: [UInt64] = []
  private var records: [String: [UInt32: [UInt8]?]] = [:]
  private var buffers: [ExactName: [UInt8]?] = [:]
  private var keys: [OrderedTableName: [[UInt8]: [UInt8]?]] = [:]

  /// Reads the entries of all commits after a number.
  ///
  /// - Throws: ``StoreError`` with `historyExpired`, `damaged`, `ioError` or `closed`.
  init(of backend: some StoreBackend, asOf number: UInt64) throws(StoreError) {
    do {
      try backend.forEachCommit(after: number) { entry in
        add(entry)
        return .next
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
  }

  /// Adds a later entry; states that are already known are older and stay.
  private mutating func add(_ entry: HistoryEntry) {
    laterCommits.append(entry.commit.number)
    for table in entry.tables {
      for record in table.objects where records[table.name]?[record.rowID] == nil {
        records[table.name, default: [:]][record.rowID] = .some(record.before)
      }
    }
    for change in entry.buffers
    where !InternalBuffers.contain(change.name) && buffers[ExactName(change.name)] == nil {
      buffers[ExactName(change.name)] = .some(change.before)
    }
    for table in entry.orderedTables
    where table.name.kind == .data && table.name != SyncTable.name {
      for change in table.keys where keys[table.name]?[change.key] == nil {
        keys[table.name, default: [:]][change.key] = .some(change.before)
      }
    }
  }

  /// Returns the changes that restore these states in a store.
  func changes(in backend: some StoreBackend) throws(StoreError) -> ChangeSet {
    var changes = ChangeSet()
    for (name, rows) in records.sorted(by: { $0.key < $1.key }) {
      let table = try backend.table(named: name)
      var taken: [ChangeSet.RecordChange] = []
      for (rowID, record) in rows.sorted(by: { $0.key < $1.key }) {
        let range = changes.take(record)
        taken.append(
          .init(kind: range == nil ? .delete : .update, rowID: rowID, range: range ?? 0..<0))
      }
      changes.tables.append(.init(table: table, records: taken))
    }
    for (name, buffer) in buffers.sorted(by: { $0.key.text < $1.key.text }) {
      changes.set(buffer, named: name.text)
    }
    for (name, keys) in keys.sorted(by: { $0.key.fileName < $1.key.fileName }) {
      let table = try backend.orderedTable(name)
      for (key, value) in keys.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        changes.set(key, to: value, in: table)
      }
    }
    if changes.isEmpty { return changes }
    for name in try backend.orderedTableNames() where name.kind == .index {
      changes.clear(try backend.orderedTable(name))
    }
    return changes
  }
}
