import Files
import Synchronization

/// The history of a store, as known to one of its processes.
struct KnownHistory: Sendable {
  let table: OrderedTableID
  /// Whether the store keeps a history.
  let isKept: Bool
  /// The beginning of the table's changes in the log, see ``CommitEntry/head``.
  let head: [UInt8]
  /// The beginnings of tables in entries, as far as they are known.
  var heads = TableMap<[UInt8]>()
}

/// The entry of a commit, which is written to the log with the commit.
struct CommitEntry: Sendable {
  /// The beginning of the changes of the history in the log: the name, not cleared, and one key.
  let head: [UInt8]
  /// The table of the history.
  let table: OrderedTableID
  /// The number of times the file of that table has been replaced.
  let fileGeneration: UInt64
  /// The key, followed by the entry.
  let bytes: [UInt8]
}

extension LoggedBackend {
  /// Whether commits get an entry in the history: true, except for a snapshot.
  public var remembersCommits: Bool { !isSnapshot }

  /// Returns the entry of a commit in the history, or nil if there is none.
  ///
  /// There is none if the store keeps no history, or if the commit changes the history itself. Then
  /// the returned changes contain the entry that the commit needs.
  ///
  /// Called under the lock of the log, when everything before the commit is written or in its
  /// batch, and the batch touches none of its rows.
  ///
  /// - Returns: The commit, with the keys that keep values for the history, and its entry.
  func remembering(
    _ one: QueuedCommit, _ commit: Commit, _ log: inout LoggedLog
  ) throws(StoreError) -> (QueuedCommit, CommitEntry?) {
    // Such a commit has its own entry.
    if one.request.replication?.isRemembered == false {
      log.history = nil
      return (one, nil)
    }
    if log.isWithoutHistory(after: one.changes) { return (one, nil) }
    // Taken, not copied, because a copy changes reference counts.
    var known = if let history = log.history.take() { history } else { try lookForHistory() }
    let change = one.changes.ordered.first { $0.table == known.table }
    // Unless the commit begins, ends or shortens the history, the next commit need not look again.
    defer { if change == nil { log.history = known } }
    if change == nil { keepsHistory.store(known.isKept, ordering: .relaxed) }
    guard known.isKept, change.map({ one.changes.onlyShortensHistory($0) }) ?? true else {
      return (one, nil)
    }
    // Every commit has an entry, also an empty one, so that a missing entry is detected.
    var writer = HistoryEntryWriter(commit, behindKey: true)
    let dropped = try writer.append(
      change == nil ? one.changes : ChangeSet(), over: self, &known.heads)
    try HistoryFormat.check(writer.bytes)
    let entry = CommitEntry(
      head: known.head, table: known.table,
      fileGeneration: try files.ordered.generation(of: known.table),
      bytes: writer.bytes)
    let one = dropped.isEmpty ? one : try one.keeping(dropped, of: commit, in: valueList())
    return change == nil ? (one, entry) : (one.containing(entry), nil)
  }

  private func valueList() throws(StoreError) -> OrderedTableID {
    try files.ordered.table(sealedName(ExternalCatalogue.table))
  }

  private func lookForHistory() throws(StoreError) -> KnownHistory {
    let name = try sealedName(HistoryFormat.table)
    let table = try files.ordered.table(name)
    let isKept = try withValue(of: HistoryFormat.stampKey, in: table) { _ in true } ?? false
    return KnownHistory(table: table, isKept: isKept, head: ChangeSet.headOfOneKey(in: name))
  }
}

extension LoggedLog {
  /// Whether the store is known to keep no history, and a save does not begin one.
  fileprivate func isWithoutHistory(after changes: ChangeSet) -> Bool {
    guard history?.isKept == false, let table = history?.table else { return false }
    return !changes.ordered.contains { $0.table == table }
  }
}

extension QueuedCommit {
  /// Returns the commit with its entry among its changes.
  func containing(_ entry: CommitEntry) -> QueuedCommit {
    changed { $0.add(entry.bytes, to: entry.table) }
  }

  /// Returns the commit with the keys that keep values for the history.
  fileprivate func keeping(
    _ dropped: [HistoryEntry.KeyChange], of commit: Commit, in list: OrderedTableID
  ) -> QueuedCommit {
    changed { $0.keep(dropped, of: commit.number, in: list) }
  }

  /// Returns the commit with more keys, which are sealed with the log and with the pages of their
  /// files.
  private func changed(_ change: (inout ChangeSet) -> Void) -> QueuedCommit {
    var (changes, sealed) = (changes, sealed)
    change(&changes)
    if var known = sealed {
      change(&known)
      sealed = known
    }
    return QueuedCommit(changes, sealed: sealed, request, commit, encoded: nil)
  }
}

/// The current state of the store, for a caller that holds the lock of the log.
extension LoggedBackend: StateBeforeCommit {
  var backend: LoggedBackend { self }

  func nameBefore(of table: TableID) throws(StoreError) -> String { try userName(of: table) }

  func nameBefore(of table: OrderedTableID) throws(StoreError) -> OrderedTableName {
    let name = try files.ordered.name(of: table)
    return openedName(name) ?? name
  }

  func appendRecordBefore(
    _ rowID: UInt32, of table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try copyKnownRecord(rowID, in: table, to: &bytes)
  }
}
