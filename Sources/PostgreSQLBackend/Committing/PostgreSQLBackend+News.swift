import Files
import FoundationEssentials
import Locks
public import StoreEngine
import Synchronization

// Other processes commit, too. Each answer includes their commits since the previous answer, and
// all stores are notified of these before the caller sees the data that was read.
extension PostgreSQLBackend {
  /// Returns a statement that asks for the commits after a number.
  ///
  /// It omits commits of this process, whose changes need not be sent back.
  func newsStatement(behind number: UInt64, besides tokens: [UUID] = []) -> Statement {
    Statement(
      "select * from stored_objects.commits_after($1, $2, $3)",
      [.int4(storeID), .int(number), .uuids(tokens)], name: .news)
  }

  /// Notifies all stores of the commits in an answer, in order and once each.
  ///
  /// The process's own commits are not in the answer, and are passed as `own`, with the keys that
  /// the server has added to keep external values.
  func take(
    _ answer: QueryResult, behind number: UInt64, own: [NewCommit] = []
  ) throws(StoreError) {
    guard answer.rowCount > 0 else {
      throw StoreError(
        .damaged, "The store was removed from the database.", at: .init(path: location))
    }
    let last = UInt64(
      clamping: try reading { () throws(ServerFailure) in try answer.number(0, 0) })
    guard last >= number || isReadOnly else { throw lostCommits(last, number) }
    lastAnswer.withLock { $0 = .now }
    // A listener that is notified of a commit may read, which must not deliver commits recursively.
    if last <= coordinator.journal.lastNumber || isDelivering { return }
    var commits: [UInt64: NewCommit] = [:]
    for row in 0..<answer.rowCount {
      let commit = try reading { () throws(ServerFailure) in
        try Commit(answer, row, 1, sealing)
      }
      guard let commit else { continue }
      commits[commit.number] = try newCommit(commit, answer, row)
    }
    for new in own { commits[new.commit.number] = new }
    deliver(commits, upTo: last)
  }

  /// Notifies all stores of commits of this process that directly follow the last known commit.
  func take(own made: [NewCommit]) {
    guard let last = made.last?.commit.number else { return }
    lastAnswer.withLock { $0 = .now }
    if last <= coordinator.journal.lastNumber || isDelivering { return }
    delivering.withLock { _ in
      deliverer.store(currentThread(), ordering: .relaxed)
      defer { deliverer.store(0, ordering: .relaxed) }
      // Another thread may have learned of them meanwhile.
      for new in made where new.commit.number == coordinator.journal.lastNumber + 1 {
        deliver(new.commit, new.changes, new.request)
      }
    }
  }

  private func newCommit(
    _ commit: Commit, _ answer: QueryResult, _ row: Int
  ) throws(StoreError) -> NewCommit? {
    let new = try reading { () throws(ServerFailure) in
      try NewCommit(commit, answer, row, self)
    }
    return try sealing.map { (sealing) throws(StoreError) in try new?.opened(sealing, self) } ?? new
  }

  private func lostCommits(_ last: UInt64, _ number: UInt64) -> StoreError {
    StoreError(
      .reopenNeeded,
      """
      The server has lost commits: its last is \(last), and \(number) was seen. Close the backend, and \
      open it again with all stores on it.
      """, at: .init(path: location))
  }

  private func deliver(_ commits: [UInt64: NewCommit], upTo last: UInt64) {
    delivering.withLock { _ in
      deliverer.store(currentThread(), ordering: .relaxed)
      defer { deliverer.store(0, ordering: .relaxed) }
      while coordinator.journal.lastNumber < last {
        guard let next = commits[coordinator.journal.lastNumber + 1] else {
          return loseTrack(upTo: last)
        }
        deliver(next)
      }
    }
  }

  private func deliver(_ new: NewCommit) {
    let own = underWay.withLock { $0[new.commit.token] }
    if own == nil { for (table, row) in new.metadata { coordinator.learn(row, of: table) } }
    // The server may have added keys to those of this process.
    deliver(new.commit, own?.changes ?? new.changes, own?.request ?? new.request, keys: new.changes)
  }

  private func deliver(
    _ commit: Commit, _ changes: ChangeSet, _ request: CommitRequest, keys: ChangeSet? = nil
  ) {
    empty.withLock { $0.note(changes) }
    sortedKeys.withLock { $0.note(keys ?? changes, commit.number) }
    coordinator.didCommit(commit, changes, request)
  }

  private func loseTrack(upTo last: UInt64) {
    empty.withLock { $0.loseTrack() }
    sortedKeys.withLock { $0.loseTrack(upTo: last) }
    try? coordinator.loseTrack(upTo: Commit(unnamed: last)) { table in
      // A row that can't be read now is read when it is needed.
      let row = try? withRecord(ClassMetadata.rowID, in: table) { [UInt8](copying: $0) }
      return row.flatMap { ClassMetadata(row: $0) }
    }
  }

  // MARK: Asking

  /// The number of the last commit that every call sees.
  ///
  /// Reading it asks the server, in one round trip, unless the last answer is within the freshness
  /// of the configuration. It doesn't ask while this thread prepares a save, because the server
  /// checks the basis of the save.
  public var lastCommitNumber: UInt64 {
    if held == nil, !coordinator.hasTurn, !isFresh { _ = try? poll() }
    return coordinator.journal.lastNumber
  }

  var isFresh: Bool {
    guard let last = lastAnswer.withLock(\.self) else { return false }
    return last.duration(to: .now) < configuration.freshness
  }

  /// Returns the rows and buffers that were changed after a commit, as far as the server remembers.
  ///
  /// Complexity: linear in the number of changes. One round trip, and a second one if there are
  /// changes.
  ///
  /// - Throws: `StoreError` with `historyExpired` if the server no longer remembers the changes, or
  ///   with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server has lost commits),
  ///   `closed` or `forked`.
  public func changes(since number: UInt64) throws(StoreError) -> ChangeSummary {
    let last = try poll()
    if number >= last { return try rememberedChanges(since: number) }
    let answer = try run([newsStatement(behind: number)])[0]
    var news = ForeignNews()
    var found = number
    for row in 0..<answer.rowCount {
      let commit = try reading { () throws(ServerFailure) in
        try Commit(answer, row, 1, sealing)
      }
      guard let commit, commit.number == found + 1,
        let new = try newCommit(commit, answer, row)
      else { break }
      news.add(new.changes)
      found += 1
    }
    // The server has forgotten some of them, or numbers were continued from those of another store.
    guard found >= last else { return try rememberedChanges(since: number) }
    return ChangeSummary(news, upTo: found)
  }
}
