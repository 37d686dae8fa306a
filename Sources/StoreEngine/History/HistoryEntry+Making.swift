import Files

extension HistoryEntry {
  /// The entry of a commit that is about to be written.
  ///
  /// Metadata rows and buffers of the store's own are left out: they are never taken back.
  ///
  /// - Parameters:
  ///   - changes: The commit.
  ///   - commit: Its number and author.
  ///   - tableName: The name of a table, as users know it.
  ///   - record: The record of a row as it is now.
  ///   - buffer: The named buffer as it is now.
  /// - Throws: what the closures throw.
  init(
    of changes: ChangeSet, _ commit: Commit,
    tableName: (TableID) throws(StoreError) -> String,
    record: (UInt32, TableID) throws(StoreError) -> [UInt8]?,
    buffer: (String) throws(StoreError) -> [UInt8]?
  ) throws(StoreError) {
    self.init(commit: commit)
    for table in changes.tables {
      var found = TableChanges(name: try tableName(table.table))
      for change in table.records where change.rowID > ClassMetadata.rowID {
        let before = change.kind == .insert ? nil : try record(change.rowID, table.table)
        let after = change.kind == .delete ? nil : Array(changes.bytes[change.range])
        if before == after { continue }
        found.records.append(.init(rowID: change.rowID, before: before, after: after))
      }
      if !found.records.isEmpty { tables.append(found) }
    }
    for change in changes.names where !InternalBuffers.contain(change.name) {
      let (before, after) = (try buffer(change.name), change.range.map { Array(changes.bytes[$0]) })
      if before != after { buffers.append(.init(name: change.name, before: before, after: after)) }
    }
  }
}

extension ChangeSet {
  /// Adds the entry of a commit to the history.
  ///
  /// - Throws: ``StoreError`` with `tooLarge`.
  mutating func add(_ entry: HistoryEntry, to history: OrderedTableID) throws(StoreError) {
    let value = HistoryFormat.encoded(entry)
    let key = HistoryFormat.key(entry.commit.number)
    guard key.count + value.count <= Self.maximumKeyByteCount else {
      throw Self.tooLarge(
        "The save, with what was there before,", value.count, Self.maximumKeyByteCount,
        "maximumKeyByteCount", .init())
    }
    set(key, to: value, in: history)
  }
}
