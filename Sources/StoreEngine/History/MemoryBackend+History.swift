import Files

extension MemoryBackend {
  /// Whether commits get an entry in the history: true.
  public var remembersCommits: Bool { true }

  /// Returns a change set with its entry in the history; nil if the store keeps none.
  func remembering(
    _ changes: ChangeSet, _ commit: Commit, _ request: CommitRequest
  ) throws(StoreError) -> ChangeSet? {
    // Such a commit has its own entry.
    if request.replication?.isRemembered == false { return nil }
    let history = try orderedTable(HistoryFormat.table)
    let change = changes.ordered.first { $0.table == history }
    guard try withValue(of: HistoryFormat.stampKey, in: history, { _ in true }) == true,
      change.map({ changes.onlyShortensHistory($0) }) ?? true
    else { return nil }
    let (names, ordered) = try inSession { ($0.numbers.names, $0.numbers.orderedNames) }
    let state = StateInMemory(backend: self, names: names, orderedNames: ordered)
    var entry = HistoryEntryWriter(commit, behindKey: true)
    var heads = TableMap<[UInt8]>()
    let changed = try entry.append(change == nil ? changes : ChangeSet(), over: state, &heads)
    try HistoryFormat.check(entry.bytes)
    var remembered = changes
    remembered.add(entry.bytes, to: history)
    if !changed.isEmpty {
      remembered.keep(changed, of: commit.number, in: try orderedTable(ExternalCatalogue.table))
    }
    return remembered
  }
}

private struct StateInMemory: StateBeforeCommit {
  let backend: MemoryBackend
  let names: [String]
  let orderedNames: [OrderedTableName]

  func nameBefore(of table: TableID) -> String { names[table.index] }
  func nameBefore(of table: OrderedTableID) -> OrderedTableName { orderedNames[table.index] }

  func appendRecordBefore(
    _ rowID: UInt32, of table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try backend.copyRecord(rowID, in: table, to: &bytes)
  }
}
