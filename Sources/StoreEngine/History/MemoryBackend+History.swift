import Files

extension MemoryBackend {
  /// True: commits get an entry in the history.
  public var remembersCommits: Bool { true }

  /// Returns a change set with its entry in the history; nil if the store keeps none.
  func remembering(_ changes: ChangeSet, _ commit: Commit) throws(StoreError) -> ChangeSet? {
    let history = try orderedTable(HistoryFormat.table)
    guard try withValue(of: HistoryFormat.stampKey, in: history, { _ in true }) == true,
      !changes.ordered.contains(where: { $0.table == history })
    else { return nil }
    let (names, ordered) = try inSession { ($0.numbers.names, $0.numbers.orderedNames) }
    let state = StateInMemory(backend: self, names: names, orderedNames: ordered)
    let entry = try HistoryEntry(of: changes, commit, over: state)
    if entry.isEmpty { return nil }
    var remembered = changes
    try remembered.add(entry, to: history) { () throws(StoreError) in
      try orderedTable(ExternalCatalogue.table)
    }
    return remembered
  }
}

private struct StateInMemory: StateBeforeCommit {
  let backend: MemoryBackend
  let names: [String]
  let orderedNames: [OrderedTableName]

  func name(of table: TableID) -> String { names[table.index] }
  func name(of table: OrderedTableID) -> OrderedTableName { orderedNames[table.index] }

  func record(_ rowID: UInt32, of table: TableID) throws(StoreError) -> [UInt8]? {
    try backend.withRecord(rowID, in: table) { [UInt8](copying: $0) }
  }
}
