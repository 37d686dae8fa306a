import Files

// Conflicts between two change sets.
extension ChangeSet {
  /// Calls a closure with the rows of a table that this change set changes or is based on, except
  /// the metadata row.
  func forEachRow(
    of table: TableID, and basis: CommitBasis, _ body: (UInt32) -> Void
  ) {
    for changes in tables where changes.table == table {
      for record in changes.records where record.rowID > ClassMetadata.rowID { body(record.rowID) }
    }
    for row in basis.rows where row.table == table { body(row.rowID) }
  }

  /// Whether this change set changes keys of a table, or is based on some.
  func touches(_ table: OrderedTableID, _ basis: CommitBasis) -> Bool {
    ordered.contains { $0.table == table && !$0.isEmpty }
      || basis.keys.contains { $0.table == table }
  }

  /// Adds the changes of this change set, which came first, that conflict with another change set.
  func find(
    _ later: ChangeSet, _ basis: CommitBasis, _ conflict: inout FoundConflict
  ) {
    for table in tables {
      // A few rows are compared one by one.
      let changed = table.records.count > 8 ? RowSet(table.records.lazy.map(\.rowID)) : nil
      later.forEachRow(of: table.table, and: basis) { row in
        if changed?.contains(row) ?? table.records.contains(where: { $0.rowID == row }) {
          conflict.add(row, of: table.table)
        }
      }
    }
    conflict.names += names.names(sharedWith: later.names)
    for change in ordered where !change.isEmpty && later.touches(change.table, basis) {
      if hasChanged(change, later, basis) { conflict.orderedTables.insert(change.table) }
    }
  }

  /// Whether another change set touches a row or a name that this one touches.
  func sharesRowsOrNames(with other: ChangeSet) -> Bool {
    var found = FoundConflict()
    find(other, CommitBasis(upTo: 0), &found)
    return !found.rows.isEmpty || !found.names.isEmpty
  }

  /// Whether another change set touches a key of an ordered table that this one touches.
  func sharesKeys(with other: ChangeSet) -> Bool {
    ordered.contains { change in
      !change.isEmpty && other.touches(change.table, CommitBasis(upTo: 0))
        && hasChanged(change, other, CommitBasis(upTo: 0))
    }
  }

  /// Whether one of the changes of a table has a key that a later change set changes or is based
  /// on.
  private func hasChanged(
    _ own: OrderedTableChanges, _ later: ChangeSet, _ basis: CommitBasis
  ) -> Bool {
    let wanted = later.ordered.first { $0.table == own.table && !$0.isEmpty }
    if own.clearsFirst || wanted?.clearsFirst == true { return true }
    let run = KeyRun(bytes: bytes, own.changes)
    for (table, range) in basis.keys where table == own.table && !run.part(in: range).isEmpty {
      return true
    }
    return wanted?.changes.contains { later.bytes.lend($0.key) { run.find($0) != nil } } == true
  }
}

extension [ChangeSet.NameChange] {
  /// Returns the names that later changes touch, too.
  ///
  /// Complexity: linear in the number of both.
  func names(sharedWith later: [ChangeSet.NameChange]) -> [String] {
    if isEmpty || later.isEmpty { return [] }
    let wanted = Set(later.map { ExactName($0.name) })
    return map(\.name).filter { wanted.contains(ExactName($0)) }
  }
}
