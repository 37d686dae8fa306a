public import FoundationEssentials
import Locks

extension StoreBackend {
  /// Returns a copy in memory, in which the later commits are undone.
  ///
  /// Complexity: linear in the size of the store, and in the entries of the later commits.
  ///
  /// - Throws: ``StoreError`` with `historyExpired` if some commits after the number are not in the
  ///   history, `invalidArgument` if the store has no such commit yet, `damaged`, `ioError` or
  ///   `closed`.
  public func snapshot(asOf number: UInt64) throws(StoreError) -> any StoreBackend {
    // Checked before the store is copied.
    try checkState(isKnownAt: number)
    let disk = MemoryDisk()
    let copy = try MemoryBackend(disk: disk)
    try BackendCopy(from: self, to: copy).run()
    let earlier = try copy.earlierChanges(asOf: number)
    try copy.commit(earlier.changes)
    try copy.continueNumbers(after: earlier.commit)
    copy.close()
    return try MemoryBackend(disk: disk, isReadOnly: true)
  }

  /// Returns the number of the last commit up to a time, by the clocks of the programs that made
  /// the commits.
  ///
  ///     let monday = try backend.snapshot(asOf: backend.commitNumber(at: date))
  ///
  /// If all commits of the history are later, the result is the last commit before the history.
  ///
  /// Complexity: linear in the entries of the history up to the time.
  ///
  /// - Throws: ``StoreError`` with `historyExpired` if no history is kept, or with `damaged`,
  ///   `ioError` or `closed`.
  public func commitNumber(at moment: Date) throws(StoreError) -> UInt64 {
    var number = try historyStart() ?? 0
    do {
      try forEachCommit(after: number) { entry in
        if let time = entry.commit.time, time > moment { return .pause }
        number = entry.commit.number
        return .next
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: location)) }
    return number
  }

  /// Throws if the state at a commit is not known: the commit is before the history or not made
  /// yet.
  ///
  /// - Throws: ``StoreError`` with `historyExpired`, `invalidArgument`, `damaged`, `ioError` or
  ///   `closed`.
  package func checkState(isKnownAt number: UInt64) throws(StoreError) {
    let last = lastCommitNumber
    guard number <= last else {
      throw StoreError(
        .invalidArgument, "There is no commit \(number) yet. Name a commit up to \(last).",
        at: .init(path: location))
    }
    try checkHistory(reachesBackTo: number)
  }

  /// Returns the changes that lead from the current state back to a commit, and that commit.
  ///
  /// They keep the part of the history that existed at that commit.
  func earlierChanges(
    asOf number: UInt64
  ) throws(StoreError) -> (changes: ChangeSet, commit: Commit?) {
    let state = try EarlierState(of: self, asOf: number)
    var changes = try state.changes(in: self)
    let table = try orderedTable(HistoryFormat.table)
    for later in state.laterCommits { changes.set(HistoryFormat.key(later), to: nil, in: table) }
    if let entry = try historyEntry(of: number) { return (changes, entry.commit) }
    return (changes, number == 0 ? nil : Commit(unnamed: number))
  }
}

extension LoggedBackend {
  /// Returns the data as of an earlier commit, for as long as the result is held.
  ///
  /// It is like ``snapshot()``, with the rows in memory that later commits have changed.
  ///
  /// Complexity: linear in the entries of the later commits. Memory: the size of their changes.
  ///
  /// - Throws: ``StoreError`` with `historyExpired` if some commits after the number are not in the
  ///   history, `invalidArgument` if the store has no such commit yet, `damaged`, `ioError` or
  ///   `closed`.
  public func snapshot(asOf number: UInt64) throws(StoreError) -> any StoreBackend {
    try checkState(isKnownAt: number)
    let snapshot = try frozenBackend()
    try snapshot.naming { () throws(StoreError) in try snapshot.goBack(to: number) }
    return snapshot
  }

  /// Makes an unused snapshot show an earlier commit.
  private func goBack(to number: UInt64) throws(StoreError) {
    let (changes, commit) = try earlierChanges(asOf: number)
    try show(try sealed(changes) ?? changes, as: commit)
    coordinator.begin(after: commit)
  }

  /// Adds changes to the memory of a snapshot, as they would be stored.
  func show(_ stored: ChangeSet, as commit: Commit?) throws(StoreError) {
    let states = try fileStates(stored, isNew: false)
    let keys = try preparedKeys(adding: stored)
    state.withLock { state in
      state.add(stored, over: states, keys: keys)
      state.lastCommit = commit
    }
  }
}

extension MemoryBackend {
  /// Returns the data as of an earlier commit.
  ///
  /// It is like ``snapshot()``, with copies of the rows that later commits have changed.
  ///
  /// Complexity: linear in the entries of the later commits.
  ///
  /// - Throws: ``StoreError`` with `historyExpired` if some commits after the number are not in the
  ///   history, `invalidArgument` if the store has no such commit yet, `damaged` or `closed`.
  public func snapshot(asOf number: UInt64) throws(StoreError) -> any StoreBackend {
    try checkState(isKnownAt: number)
    let snapshot = try MemoryBackend(copyOf: self, isReadOnly: true)
    try snapshot.goBack(to: number)
    return snapshot
  }

  /// Makes an unused copy show an earlier commit.
  package func goBack(to number: UInt64) throws(StoreError) {
    let (changes, commit) = try earlierChanges(asOf: number)
    try show(changes, as: commit)
  }

  private func show(_ changes: ChangeSet, as commit: Commit?) throws(StoreError) {
    let (names, ordered) = try inSession { ($0.numbers.names, $0.numbers.orderedNames) }
    try disk.apply(changes, commit, tableNames: names, orderedNames: ordered)
    coordinator.begin(after: commit)
  }
}
