/// Commits that are ready to be written to the log together.
struct CommitBatch: Sendable {
  /// A commit with everything that its preparation has found.
  struct Prepared: Sendable {
    /// The position among the commits that are written together.
    let index: Int
    let commit: Commit
    let queued: QueuedCommit
    /// The state of each table's file, in the order of the change set.
    let fileStates: [PendingRecords.FileState]
    let keys: [PreparedKeys]
    /// The entry in the history, unless the commit has none or contains it.
    let entry: CommitEntry?
    let payload: [[UInt8]]
  }

  private(set) var commits: [Prepared] = []
  private var hasLargeKeys = false
  var isEmpty: Bool { commits.isEmpty }

  mutating func append(_ prepared: Prepared) {
    commits.append(prepared)
    hasLargeKeys = hasLargeKeys || prepared.queued.stored.hasLargeKeys
  }

  /// Removes and returns all commits.
  mutating func take() -> [Prepared] {
    defer { self = CommitBatch() }
    return commits
  }

  /// Whether a commit touches a row or a name of one of these, so that its rows have to be looked
  /// up again after them.
  func overlaps(_ one: QueuedCommit) -> Bool {
    if isEmpty { return false }
    // Every save writes the metadata row, and only an insert checks whether it exists.
    if one.changes.insertsMetadata { return true }
    // A commit with a basis would have been refused.
    if one.request.basis != nil { return false }
    return commits.contains { $0.queued.changes.sharesRowsOrNames(with: one.changes) }
  }

  /// Whether these have to be visible before a commit's keys are prepared.
  ///
  /// A large save is prepared as a whole, on top of what is visible.
  func precedesKeys(of one: QueuedCommit) -> Bool {
    !isEmpty && (hasLargeKeys || one.stored.hasLargeKeys)
  }

  /// Whether a commit touches a key of one of these.
  func overlapsKeys(of one: QueuedCommit) -> Bool {
    if one.changes.ordered.isEmpty { return false }
    return commits.contains { commit in
      // Its entry is not among its changes.
      commit.queued.changes.sharesKeys(with: one.changes)
        || one.changes.ordered.contains { $0.table == commit.entry?.table }
    }
  }
}

extension ChangeSet {
  fileprivate var insertsMetadata: Bool {
    tables.contains { table in
      table.records.contains { $0.rowID == ClassMetadata.rowID && $0.kind == .insert }
    }
  }
}
