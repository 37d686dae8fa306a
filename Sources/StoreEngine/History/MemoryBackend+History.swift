import Files

extension MemoryBackend {
  /// True.
  public var remembersCommits: Bool { true }

  /// A change set with its entry in the history; nil where the store keeps none.
  func remembering(_ changes: ChangeSet, _ commit: Commit) throws(StoreError) -> ChangeSet? {
    let history = try orderedTable(HistoryFormat.table)
    guard try withValue(of: HistoryFormat.stampKey, in: history, { _ in true }) == true,
      !changes.ordered.contains(where: { $0.table == history })
    else { return nil }
    let names = try inSession { $0.numbers.names }
    let entry = try HistoryEntry(
      of: changes, commit, tableName: { names[$0.index] },
      record: { (rowID, table) throws(StoreError) in
        try withRecord(rowID, in: table) { [UInt8](copying: $0) }
      },
      buffer: { (name) throws(StoreError) in
        try withNamedBuffer(name) { [UInt8](copying: $0) }
      })
    if entry.isEmpty { return nil }
    var remembered = changes
    try remembered.add(entry, to: history)
    return remembered
  }
}
