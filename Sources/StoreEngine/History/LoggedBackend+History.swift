import Files
import Synchronization

/// The history of a store, as known to one of its processes.
struct KnownHistory: Sendable {
  let table: OrderedTableID
  /// Whether the store keeps a history.
  let isKept: Bool
}

extension LoggedBackend {
  /// True, except for a snapshot.
  public var remembersCommits: Bool { !isSnapshot }

  /// Returns a commit with its entry in the history, or the same commit if the store keeps none.
  ///
  /// Called under the lock of the log, when everything before the commit is written or in its
  /// batch, and the batch touches none of its rows.
  func remembering(
    _ one: QueuedCommit, _ commit: Commit, _ log: inout LoggedLog
  ) throws(StoreError) -> QueuedCommit {
    // Such a commit has its own entry.
    if one.request.replication?.isRemembered == false {
      log.history = nil
      return one
    }
    let known: KnownHistory
    if let history = log.history { known = history } else { known = try lookForHistory() }
    let change = one.changes.ordered.first { $0.table == known.table }
    // The commit may begin, end or shorten the history, so the next commit looks again.
    log.history = change == nil ? known : nil
    if change == nil { keepsHistory.store(known.isKept, ordering: .relaxed) }
    guard known.isKept, change.map({ one.changes.onlyShortensHistory($0) }) ?? true else {
      return one
    }
    // Every commit has an entry, also an empty one, so that a missing entry is detected.
    var entry = HistoryEntryWriter(commit)
    let changed = try entry.append(
      change == nil ? one.changes : ChangeSet(), over: KnownState(backend: self))
    let list = changed.isEmpty ? nil : try files.ordered.table(sealedName(ExternalCatalogue.table))
    // Keys are sealed with the log and with the pages of their files.
    func remember(_ changes: inout ChangeSet) throws(StoreError) {
      try changes.add(entry.bytes, of: commit.number, to: known.table)
      if let list { changes.keep(changed, of: commit.number, in: list) }
    }
    var (changes, sealed) = (one.changes, one.sealed)
    try remember(&changes)
    if var known = sealed {
      try remember(&known)
      sealed = known
    }
    return QueuedCommit(changes, sealed: sealed, one.request, one.commit, encoded: nil)
  }

  private func lookForHistory() throws(StoreError) -> KnownHistory {
    let table = try files.ordered.table(sealedName(HistoryFormat.table))
    let isKept = try withValue(of: HistoryFormat.stampKey, in: table) { _ in true } ?? false
    return KnownHistory(table: table, isKept: isKept)
  }
}

/// The current state of a store, for a caller that holds the lock of the log.
private struct KnownState<Files: RecordFiles>: StateBeforeCommit {
  let backend: LoggedBackend<Files>

  func name(of table: TableID) throws(StoreError) -> String { try backend.userName(of: table) }

  func name(of table: OrderedTableID) throws(StoreError) -> OrderedTableName {
    let name = try backend.files.ordered.name(of: table)
    return backend.openedName(name) ?? name
  }

  func record(_ rowID: UInt32, of table: TableID) throws(StoreError) -> [UInt8]? {
    try backend.knownRecord(rowID, table)
  }
}
