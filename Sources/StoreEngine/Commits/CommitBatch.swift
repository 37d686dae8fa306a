/// Commits that are ready to be written to the log together.
struct CommitBatch: Sendable {
  /// A commit with all that has been found out about it.
  struct Prepared: Sendable {
    /// Its place among those that are done together.
    let index: Int
    let commit: Commit
    let queued: QueuedCommit
    let fileStates: [TableID: PendingRecords.FileState]
    let keys: [OrderedTableID: PendingKeys]
    let payload: [[UInt8]]
  }

  private(set) var commits: [Prepared] = []
  /// What will be pending of ordered tables once these are written.
  private(set) var keys: [OrderedTableID: PendingKeys] = [:]
  var isEmpty: Bool { commits.isEmpty }

  mutating func append(_ prepared: Prepared) {
    commits.append(prepared)
    if !prepared.keys.isEmpty { keys.merge(prepared.keys) { $1 } }
  }

  /// Gives away all commits.
  mutating func take() -> [Prepared] {
    defer { self = CommitBatch() }
    return commits
  }

  /// Whether a commit touches a row or a name of one of these, so that it has to be looked up again
  /// behind them.
  func overlaps(_ one: QueuedCommit) -> Bool {
    if isEmpty { return false }
    // One with a basis would have been refused.
    if one.request.basis != nil { return one.changes.insertsMetadata }
    return commits.contains { $0.queued.changes.sharesRowsOrNames(with: one.changes) }
  }
}

extension ChangeSet {
  fileprivate var insertsMetadata: Bool {
    tables.contains { table in
      table.records.contains { $0.rowID == ClassMetadata.rowID && $0.kind == .insert }
    }
  }

  fileprivate func sharesRowsOrNames(with other: ChangeSet) -> Bool {
    let sharesRows = tables.contains { table in
      guard let theirs = other.tables.first(where: { $0.table == table.table }) else {
        return false
      }
      let rows = Set(table.records.lazy.map(\.rowID))
      // The metadata row is in every save, and says what the one before says, or more.
      return theirs.records.contains {
        rows.contains($0.rowID) && ($0.rowID > ClassMetadata.rowID || $0.kind == .insert)
      }
    }
    if sharesRows { return true }
    let names = Set(names.map { ExactName($0.name) })
    return !names.isEmpty && other.names.contains { names.contains(ExactName($0.name)) }
  }
}
