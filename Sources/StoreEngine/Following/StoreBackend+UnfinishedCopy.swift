import Files

extension StoreBackend {
  /// Removes everything from a store that is an unfinished copy of another one, so that the copy can
  /// begin again.
  ///
  /// It can be interrupted, too: the store stays an unfinished copy until the end.
  ///
  /// Complexity: linear in what is there. Memory: that of 10,000 row IDs.
  ///
  /// - Throws: ``StoreError`` as ``commit(_:_:)``.
  package func removeUnfinishedCopy() throws(StoreError) {
    guard try followerMark()?.isWhole == false else { return }
    for name in try tableNames() { try removeRows(of: try table(named: name)) }
    var changes = ChangeSet()
    for name in try bufferNames() { changes.set(nil, named: name) }
    for name in try orderedTableNames() where name != FollowerMark.table {
      changes.clear(try orderedTable(name))
    }
    changes.clear(try orderedTable(FollowerMark.table))
    try commit(changes, .replicating(nil))
  }

  private func removeRows(of table: TableID) throws(StoreError) {
    while true {
      var changes = ChangeSet()
      var records: [ChangeSet.RecordChange] = []
      _ = try scan(table, from: nil) { rowID, _ in
        records.append(.init(kind: .delete, rowID: rowID, range: 0..<0))
        return records.count < 10_000 ? .next : .pause
      }
      if records.isEmpty { return coordinator.table(table).forget() }
      changes.tables = [.init(table: table, records: records)]
      try commit(changes, .replicating(nil))
    }
  }
}
