import Files
import Locks
import StoreEngine
import Synchronization

/// Decides which commits are sent as direct successors of the last known one.
///
/// While others commit to the same store, few commits are that, and an attempt in vain costs a
/// round trip. So each failure doubles the number of commits until the next attempt.
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

// A small commit that directly follows the last one that this process knows conflicts with nothing:
// this process has compared its basis with the commits before. So the server need not look for
// conflicts, for the token or for news. If others have committed, the function answers so, and the
// commit is sent again, with all that the server needs to judge it.
extension PostgreSQLBackend {
  /// The maximum number of commits that are compared with each other.
  private static let mostNextCommits = 64

  /// Makes small commits in one transaction if nobody has committed since the last known commit.
  ///
  /// - Parameters:
  ///   - commits: The commits.
  ///   - doubt: Set when the outcome becomes unknown; the commits then have to be looked for.
  /// - Returns: The first of the commits, as far as they were made.
  /// - Throws: The failure, if nothing is known of the commits or the server can't be reached.
  func sendNext(
    _ commits: [OutgoingCommit], _ doubt: inout Backoff?
  ) throws(DeliveryFailure) -> [Commit] {
    let known = coordinator.journal.lastNumber
    guard nextAttempts.withLock({ $0.isDue() }), let statements = next(commits, after: known) else {
      return []
    }
    let results: [QueryResult]
    do throws(DeliveryFailure) {
      results = try deliver(&doubt) { (connection) throws(ServerFailure) in
        try connection.run(statements)
      }
    } catch {
      guard case .refused = error.failure, !error.isInDoubt, !error.failure.isLost else {
        throw error
      }
      // The other function finds the reason.
      nextAttempts.withLock { $0.note(isMade: false) }
      return []
    }
    let numbers = results.map { $0.rowCount > 0 ? $0.int(0, 0) : nil }
    let made = zip(commits, numbers).prefix { $0.1 != nil }.map { (one, number) in
      NewCommit(
        commit: one.commit.numbered(UInt64(clamping: number ?? 0)), changes: one.changes,
        request: one.request)
    }
    nextAttempts.withLock { $0.note(isMade: made.count == commits.count) }
    take(own: made)
    return made.map(\.commit)
  }

  /// Returns the statements of commits that may be made directly after a known one; nil if one of
  /// them needs more than that.
  private func next(_ commits: [OutgoingCommit], after known: UInt64) -> [Statement]? {
    if keepsHistory.load(ordering: .relaxed) || commits.count > Self.mostNextCommits { return nil }
    let ids = tableIDs.withLock(\.self)
    var statements: [Statement] = []
    for (index, one) in commits.enumerated() {
      let last = known + UInt64(index)
      guard one.isSimple, one.requiredNumber ?? last == last,
        isUncontested(one, upTo: last, after: commits[..<index]),
        let statement = try? one.arguments.next(one.commit, after: last, ids)
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

  /// Records the numbers of the tables of a commit, which the server has answered.
  func learnTables(of one: OutgoingCommit, _ answer: QueryResult) {
    guard let ids = try? answer.ints(0, 8), ids.count == one.arguments.tables.count else { return }
    tableIDs.withLock { known in
      for (table, id) in zip(one.arguments.tables, ids) { known[table] = Int32(clamping: id) }
    }
  }
}
