import Files
import Locks
import StoreEngine
import Synchronization

/// Decides which commits are sent on the short way.
///
/// An attempt in vain costs a round trip. So each failure doubles the number of commits until the
/// next attempt.
struct SmallAttempts: Sendable {
  private var left = 0
  private var pause = 0
  /// Whether others have committed before the last commit that was made.
  private(set) var followsOthers = false

  /// The maximum number of commits between two attempts.
  private static let longestPause = 64

  /// Whether the next commit is an attempt.
  mutating func isDue() -> Bool {
    if left == 0 { return true }
    left -= 1
    return false
  }

  mutating func note(isMade: Bool) {
    pause = isMade ? 0 : min(2 * pause + 1, Self.longestPause)
    left = pause
  }

  mutating func note(followsOthers: Bool) { self.followsOthers = followsOthers }
}

/// An attempt to send commits on the short way.
struct SmallAttempt: Sendable {
  /// The number of the last commit that the process knew.
  let known: UInt64
  /// The statements of the commits, and maybe one that asks for the commits of others.
  let statements: [Statement]
}

// A small commit conflicts with nothing if others have not changed its rows and keys since the last
// commit that this process knows: this process has compared its basis with the commits before. So
// the server need not look for conflicts in all commits since the basis, or for the token.
//
// If others have committed in between, their changes are needed, too. While others commit, this
// process asks for them with each commit, in a transaction of its own, so that the lock of the store
// is free meanwhile.
extension PostgreSQLBackend {
  /// The maximum number of commits in one attempt.
  private static let mostSmallCommits = 64

  /// Makes small commits in one transaction, if others have surely not changed their basis.
  ///
  /// - Parameters:
  ///   - commits: The commits.
  ///   - doubt: Set when the outcome becomes unknown; the commits then have to be looked for.
  /// - Returns: The outcomes of the commits, nil for those that have to be sent completely; or
  ///   nothing.
  func sendSmall(_ commits: [OutgoingCommit], _ doubt: inout Backoff?) -> [CommitOutcome?] {
    smallAttempt(commits).map { send(commits, $0, &doubt) } ?? []
  }

  /// Prepares the statements of an attempt; nil if the commits have to be sent completely.
  func smallAttempt(_ commits: [OutgoingCommit]) -> SmallAttempt? {
    guard !keepsHistory.load(ordering: .relaxed), commits.count <= Self.mostSmallCommits,
      let known = coordinator.journal.last, commits.allSatisfy({ isUncontested($0, upTo: known) }),
      smallAttempts.withLock({ $0.isDue() })
    else { return nil }
    let ids = tableIDs.withLock(\.self)
    let followsOthers = smallAttempts.withLock(\.followsOthers)
    var statements: [Statement] = []
    for one in commits {
      // The commits of a transaction follow each other.
      let statement = try? one.arguments.small(
        one.commit, after: known, mayFollow: one.requiredNumber == nil,
        followsOthers: followsOthers || !statements.isEmpty, ids)
      guard let statement else { return nil }
      statements.append(statement)
    }
    if followsOthers {
      // With the changes of these commits, too: if they were made before, and their answer was lost,
      // the functions answer as for those that have to be sent completely.
      var news = newsStatement(behind: known.number)
      news.isOfNextTransaction = true
      statements.append(news)
    }
    return SmallAttempt(known: known.number, statements: statements)
  }

  /// Makes an attempt, see ``sendSmall(_:_:)``, with the answer if the statements were sent before.
  func send(
    _ commits: [OutgoingCommit], _ attempt: SmallAttempt, first: ServerAnswer? = nil,
    _ doubt: inout Backoff?
  ) -> [CommitOutcome?] {
    let results: [QueryResult]
    do throws(DeliveryFailure) {
      results = try deliver(&doubt, first: first) { (connection) throws(ServerFailure) in
        try connection.run(attempt.statements)
      }
    } catch {
      smallAttempts.withLock { $0.note(isMade: false) }
      // The complete way finds the reason of a refusal.
      if case .refused = error.failure, !error.isInDoubt, !error.failure.isLost { return [] }
      return commits.map { .failure(error.error(of: $0.commit, at: location)) }
    }
    var made: [NewCommit] = []
    for (one, result) in zip(commits, results) {
      guard result.rowCount > 0, let number = result.int(0, 0) else { continue }
      made.append(
        NewCommit(
          commit: one.commit.numbered(UInt64(clamping: number)), changes: one.changes,
          request: one.request))
    }
    smallAttempts.withLock { $0.note(isMade: made.count == commits.count) }
    return outcomes(
      of: commits, made, results.count > commits.count ? results.last : nil, behind: attempt.known)
  }

  /// Notifies all stores of commits that were made, and of those of others in between.
  private func outcomes(
    of commits: [OutgoingCommit], _ made: [NewCommit], _ news: QueryResult?, behind known: UInt64
  ) -> [CommitOutcome?] {
    do throws(StoreError) {
      try take(made, news, behind: known)
    } catch {
      return commits.map { one in
        made.contains { $0.commit.token == one.commit.token } ? .failure(unseen(one, error)) : nil
      }
    }
    var rest = made[...]
    return commits.map { one in
      guard let first = rest.first, first.commit.token == one.commit.token else { return nil }
      rest.removeFirst()
      return .success(first.commit)
    }
  }

  private func take(
    _ made: [NewCommit], _ news: QueryResult?, behind known: UInt64
  ) throws(StoreError) {
    guard let last = made.last?.commit.number else {
      if let news { try take(news, behind: known) }
      return
    }
    let followsOthers = last > known + UInt64(made.count)
    smallAttempts.withLock { $0.note(followsOthers: followsOthers) }
    if let news { return try take(news, behind: known, own: made) }
    if !followsOthers { return take(own: made) }
    try take(try newsWithPatience(behind: known), behind: known, own: made)
  }

  /// Asks for the commits of others after a commit was made, until the timeout.
  ///
  /// Without an answer, the store has to be opened again.
  private func newsWithPatience(behind known: UInt64) throws(StoreError) -> QueryResult {
    var waiting = Backoff(configuration.timeout)
    while true {
      do throws(StoreError) {
        return try run([newsStatement(behind: known)])[0]
      } catch {
        guard error.code == .ioError, waiting.pause() else { throw error }
      }
    }
  }

  /// Returns the error of a commit that was made, while the commits before it can't be read.
  private func unseen(_ one: OutgoingCommit, _ error: StoreError) -> StoreError {
    StoreError(
      .reopenNeeded,
      """
      The save was made as the commit with the token \(one.commit.token), and the commits of others \
      before it can't be read: open the store again.
      """, at: .init(path: location), underlying: error)
  }

  /// Whether the short way may be taken: no known commit has changed the basis of a commit.
  private func isUncontested(_ one: OutgoingCommit, upTo known: Commit) -> Bool {
    guard one.isSimple, one.requiredNumber ?? known.number == known.number else { return false }
    guard let basis = one.request.basis, basis.number != known.number else { return true }
    // The server decides which of two metadata rows it keeps.
    if one.hasMetadata { return false }
    return coordinator.journal.conflict(of: one.changes, on: basis, besides: []) == nil
  }

  /// Records the numbers of the tables of a commit that the server has made.
  ///
  /// The tables of a commit that it has refused may be lost with the server, while all known commits
  /// are not.
  func learnTables(of one: OutgoingCommit, _ answer: QueryResult) {
    guard let ids = try? answer.ints(0, 8), ids.count == one.arguments.tables.count else { return }
    tableIDs.withLock { known in
      for (table, id) in zip(one.arguments.tables, ids) { known[table] = Int32(clamping: id) }
    }
  }
}
