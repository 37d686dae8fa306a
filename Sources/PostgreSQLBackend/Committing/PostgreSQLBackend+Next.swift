import Files
import Locks
import StoreEngine
import Synchronization

/// Decides which commits are sent on a short way.
///
/// While others commit to the same store, few commits directly follow the last known one, and an
/// attempt in vain costs a round trip. So each failure doubles the number of commits until the next
/// attempt.
struct NextAttempts: Sendable {
  private var left = 0
  private var pause = 0

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
}

/// An attempt to send commits on a short way.
struct NextAttempt: Sendable {
  /// The number of the last commit that the process knew.
  let known: UInt64
  /// Whether the commits must directly follow that one.
  let isNext: Bool
  let statements: [Statement]
}

// A small commit that directly follows the last one that this process knows conflicts with nothing:
// this process has compared its basis with the commits before. So the server need not look for
// conflicts, for the token or for news. If others have committed, the function answers so, and the
// commit is sent again, with all that the server needs to judge it.
//
// While others commit, another function compares the commit with those that this process doesn't
// know yet. That is quick for few rows, and their changes come with the answer.
extension PostgreSQLBackend {
  /// The maximum number of commits that are compared with each other.
  private static let mostNextCommits = 64

  /// Makes small commits in one transaction, if others have surely not changed their basis.
  ///
  /// - Parameters:
  ///   - commits: The commits.
  ///   - doubt: Set when the outcome becomes unknown; the commits then have to be looked for.
  /// - Returns: The outcomes of the commits, nil for those that have to be sent completely; or
  ///   nothing.
  func sendNext(_ commits: [OutgoingCommit], _ doubt: inout Backoff?) -> [CommitOutcome?] {
    nextAttempt(commits).map { send(commits, $0, &doubt) } ?? []
  }

  /// Prepares the statements of an attempt; nil if the commits have to be sent completely.
  func nextAttempt(_ commits: [OutgoingCommit]) -> NextAttempt? {
    let last = coordinator.journal.last
    let known = last?.number ?? 0
    let isNext = nextAttempts.withLock { $0.isDue() }
    guard isNext || afterAttempts.withLock({ $0.isDue() }),
      var statements = isNext ? next(commits, after: last) : after(commits, known)
    else { return nil }
    // With the changes of these commits: if they were made before, and their answer was lost, the
    // function answers as for those that have to be sent completely.
    if !isNext { statements.append(newsStatement(behind: known)) }
    return NextAttempt(known: known, isNext: isNext, statements: statements)
  }

  /// Makes an attempt, see ``sendNext(_:_:)``, with the answer if the statements were sent before.
  func send(
    _ commits: [OutgoingCommit], _ attempt: NextAttempt, first: ServerAnswer? = nil,
    _ doubt: inout Backoff?
  ) -> [CommitOutcome?] {
    let (known, isNext) = (attempt.known, attempt.isNext)
    let results: [QueryResult]
    do throws(DeliveryFailure) {
      results = try deliver(&doubt, first: first) { (connection) throws(ServerFailure) in
        try connection.run(attempt.statements)
      }
    } catch {
      note(isMade: false, isNext)
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
    note(isMade: made.count == commits.count, isNext)
    return outcomes(of: commits, made, isNext ? nil : results.last, behind: known)
  }

  private func note(isMade: Bool, _ isNext: Bool) {
    if isNext {
      nextAttempts.withLock { $0.note(isMade: isMade) }
    } else {
      afterAttempts.withLock { $0.note(isMade: isMade) }
    }
  }

  /// Notifies all stores of commits that were made, and of those of others in an answer.
  private func outcomes(
    of commits: [OutgoingCommit], _ made: [NewCommit], _ news: QueryResult?, behind known: UInt64
  ) -> [CommitOutcome?] {
    do throws(StoreError) {
      if let news { try take(news, behind: known, own: made) } else { take(own: made) }
    } catch {
      return commits.map { _ in .failure(error) }
    }
    var rest = made[...]
    return commits.map { one in
      guard let first = rest.first, first.commit.token == one.commit.token else { return nil }
      rest.removeFirst()
      return .success(first.commit)
    }
  }

  /// Returns the statements of commits that may be made directly after a known one; nil if one of
  /// them needs more than that.
  private func next(_ commits: [OutgoingCommit], after known: Commit?) -> [Statement]? {
    if keepsHistory.load(ordering: .relaxed) || commits.count > Self.mostNextCommits { return nil }
    let ids = tableIDs.withLock(\.self)
    var statements: [Statement] = []
    var previous = known
    for (index, one) in commits.enumerated() {
      let last = previous?.number ?? 0
      guard one.isSimple, one.requiredNumber ?? last == last,
        isUncontested(one, upTo: last, after: commits[..<index]),
        let statement = try? next(one, after: previous, isInGroup: index > 0, ids)
      else { return nil }
      statements.append(statement)
      previous = one.commit.numbered(last + 1)
    }
    return statements
  }

  /// Returns the statement of a commit that may be made directly after another one.
  private func next(
    _ one: OutgoingCommit, after previous: Commit?, isInGroup: Bool, _ ids: ServerTableIDs
  ) throws(StoreError) -> Statement? {
    if let previous, one.isOfOneRow {
      return try one.arguments.row(one.commit, after: previous, ids)
    }
    return try one.arguments.next(
      one.commit, after: previous?.number ?? 0, isInGroup ? previous : nil, ids)
  }

  /// Returns the statements of commits that may be made after commits that are not known; nil if
  /// one of them needs more than that.
  private func after(_ commits: [OutgoingCommit], _ known: UInt64) -> [Statement]? {
    if keepsHistory.load(ordering: .relaxed) { return nil }
    let ids = tableIDs.withLock(\.self)
    var statements: [Statement] = []
    for one in commits {
      guard one.isSimple, one.arguments.isTiny, one.requiredNumber == nil,
        isUncontested(one, upTo: known, after: []),
        let statement = try? one.arguments.after(one.commit, after: known, ids)
      else { return nil }
      statements.append(statement)
    }
    return statements
  }

  /// Whether neither known commits nor those that come first have changed the basis of a commit.
  private func isUncontested(
    _ one: OutgoingCommit, upTo last: UInt64, after others: ArraySlice<OutgoingCommit>
  ) -> Bool {
    guard let basis = one.request.basis, basis.number != last else { return true }
    // The server decides which of two metadata rows it keeps.
    if one.hasMetadata { return false }
    return coordinator.journal.conflict(
      of: one.changes, on: basis, besides: others.map(\.changes)) == nil
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
