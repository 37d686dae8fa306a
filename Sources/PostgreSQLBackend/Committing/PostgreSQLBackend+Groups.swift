import Files
package import StoreEngine
import Synchronization

// A commit waits for the server's disk, and holds the lock of the store meanwhile. So commits that
// wait at the same time are sent together: one transaction, in which the function is called once
// for each. A commit with a conflict has an answer of its own and changes nothing, so the others
// don't notice. If a statement fails, nothing was executed, and the others are sent again.
extension PostgreSQLBackend: CommitWriting {
  /// Writes one commit.
  package func write(_ one: OutgoingCommit) throws(StoreError) -> Commit {
    try pool.check()
    try one.request.follower?.willWrite()
    return try send(one)
  }

  /// Writes commits with as few transactions as possible.
  package func write(_ commits: [OutgoingCommit], _ willWait: () -> Void) -> [CommitOutcome] {
    willWait()
    return write(commits, behind: [])
  }

  /// Writes commits whose first ones have outcomes.
  private func write(
    _ commits: [OutgoingCommit], behind first: [CommitOutcome]
  ) -> [CommitOutcome] {
    var outcomes = first
    while outcomes.count < commits.count {
      let group = nextGroup(commits[outcomes.count...])
      outcomes += group.count > 1 ? writeTogether(group) : group.map(writeAlone)
    }
    for case (let one, .failure(let error)) in zip(commits, outcomes) {
      one.request.follower?.didFail(error)
    }
    return outcomes
  }

  /// Sends the first commits that can be one transaction, and returns before the answer comes.
  ///
  /// Everything that takes more than one request is done on a thread after the first answer: further
  /// transactions, commits that the server could not make on the short way, and retries.
  package func beginToWrite(
    _ commits: [OutgoingCommit], mayConnect: Bool,
    _ completion: @escaping @Sendable ([CommitOutcome]) -> Void
  ) -> Bool {
    let first = nextGroup(commits[...])
    guard first.allSatisfy(\.arguments.isSmall), let connection = idleConnection(mayConnect) else {
      return false
    }
    let group = preparedGroup(first)
    send(group.statements, on: connection) { [self] answer in
      completion(write(commits, behind: finish(group, answer)))
    }
    return true
  }

  private func writeAlone(_ one: OutgoingCommit) -> CommitOutcome {
    Result { () throws(StoreError) in try write(one) }
  }

  /// Returns the first commits that can be one transaction: at least one.
  private func nextGroup(
    _ commits: ArraySlice<OutgoingCommit>
  ) -> ArraySlice<OutgoingCommit> {
    guard commits[commits.startIndex].arguments.isSmall else { return commits.prefix(1) }
    let end = commits.indices.dropFirst().first { index in
      let (one, before) = (commits[index], commits[..<index])
      // Which keys of an encrypted store are in a range is known once the others have numbers.
      return !one.arguments.isSmall
        || sealing != nil && before.contains { one.isBasedOnRange(changedBy: $0) }
    }
    return commits[..<(end ?? commits.endIndex)]
  }

  /// A commit of a transaction, with its place among the outcomes.
  private struct Member {
    let place: Int
    let one: OutgoingCommit
    /// The statement with all that the server needs to judge the commit.
    var statement = Statement("")
  }

  /// The commits of a transaction, before it is sent.
  private struct PreparedGroup {
    /// The outcomes so far; nil for those of the members.
    var outcomes: [CommitOutcome?]
    var members: [Member] = []
    /// The attempt on the short way; nil if the commits have to be sent completely.
    var attempt: SmallAttempt?
    /// The number of the last known commit before they are sent completely.
    var known: UInt64 = 0
    /// The statements to send first.
    var statements: [Statement] = []
  }

  private enum Answer {
    case outcomes([CommitOutcome])
    /// The server has executed nothing, because it could not execute the statement with this index.
    case refusal(Int, StoreError)
  }

  /// Writes commits in one transaction, without those that the server can't execute.
  private func writeTogether(_ commits: ArraySlice<OutgoingCommit>) -> [CommitOutcome] {
    finish(preparedGroup(commits), nil)
  }

  private func preparedGroup(_ commits: ArraySlice<OutgoingCommit>) -> PreparedGroup {
    var group = PreparedGroup(outcomes: Array(repeating: nil, count: commits.count))
    for (place, one) in commits.enumerated() {
      do throws(StoreError) {
        try pool.check()
        try one.request.follower?.willWrite()
        group.members.append(Member(place: place, one: one))
      } catch { group.outcomes[place] = .failure(error) }
    }
    if group.members.isEmpty { return group }
    group.attempt = smallAttempt(group.members.map(\.one))
    if let attempt = group.attempt {
      group.statements = attempt.statements
    } else {
      prepareCompletely(&group)
    }
    return group
  }

  /// Prepares the statements that send commits completely.
  private func prepareCompletely(_ group: inout PreparedGroup) {
    for (index, member) in group.members.enumerated().reversed() {
      do throws(StoreError) {
        group.members[index].statement = try statement(of: member.one)
      } catch { group.outcomes[group.members.remove(at: index).place] = .failure(error) }
    }
    group.known = coordinator.journal.lastNumber
    group.statements = statements(of: group.members, behind: group.known)
  }

  private func statements(of members: [Member], behind known: UInt64) -> [Statement] {
    if members.isEmpty { return [] }
    return members.map(\.statement)
      + [newsStatement(behind: known, besides: members.map(\.one.commit.token))]
  }

  /// Writes commits that are prepared, with the answer to their first statements, if these were sent
  /// before.
  private func finish(_ group: PreparedGroup, _ first: ServerAnswer?) -> [CommitOutcome] {
    var (group, first) = (group, first)
    var doubt: Backoff?
    if let attempt = group.attempt {
      sendSmall(&group, attempt, first, &doubt)
      first = nil
      prepareCompletely(&group)
    }
    var (members, outcomes) = (group.members, group.outcomes)
    // A single commit is sent in a way that may take several requests, unless that was done before.
    sending: while members.count > (first == nil ? 1 : 0) {
      let answer = send(members, behind: group.known, first, &doubt)
      first = nil
      switch answer {
      case .outcomes(let found):
        for (member, outcome) in zip(members, found) { outcomes[member.place] = outcome }
        members = []
      case .refusal(let index, let error) where members.indices.contains(index):
        outcomes[members.remove(at: index).place] = .failure(error)
      case .refusal: break sending
      }
      group.known = coordinator.journal.lastNumber
    }
    for member in members {
      outcomes[member.place] = Result { () throws(StoreError) in
        try sendCompletely(member.one, &doubt)
      }
    }
    return outcomes.map { $0 ?? .failure(StoreError(.closed, "The backend has been closed.")) }
  }

  private func statement(of one: OutgoingCommit) throws(StoreError) -> Statement {
    try one.arguments.plan(
      one.commit, required: one.requiredNumber, rangesSince: uncontestedNumber(one),
      isDivided: false
    ).statements[0]
  }

  /// Makes the members whose basis others have surely not changed, and removes them.
  private func sendSmall(
    _ group: inout PreparedGroup, _ attempt: SmallAttempt, _ first: ServerAnswer?,
    _ doubt: inout Backoff?
  ) {
    let found = send(group.members.map(\.one), attempt, first: first, &doubt)
    for (member, outcome) in zip(group.members, found) { group.outcomes[member.place] = outcome }
    group.members.removeAll { [outcomes = group.outcomes] in outcomes[$0.place] != nil }
  }

  private func send(
    _ members: [Member], behind known: UInt64, _ first: ServerAnswer?, _ doubt: inout Backoff?
  ) -> Answer {
    var executedCount = first?.executedCount ?? 0
    do throws(DeliveryFailure) {
      let results = try deliver(&doubt, first: first) { (connection) throws(ServerFailure) in
        defer { executedCount = connection.executedCount }
        return try connection.run(statements(of: members, behind: known))
      }
      return .outcomes(outcomes(of: members, results, behind: known))
    } catch {
      if !error.isInDoubt, case .refused = error.failure, !error.failure.isLost {
        return .refusal(executedCount, error.failure.error(at: location))
      }
      return .outcomes(members.map { .failure(error.error(of: $0.one.commit, at: location)) })
    }
  }

  private func outcomes(
    of members: [Member], _ results: [QueryResult], behind number: UInt64
  ) -> [CommitOutcome] {
    do throws(StoreError) {
      let answers = try results.dropLast().map { (result) throws(StoreError) in
        try outcome(result)
      }
      var made: [NewCommit] = []
      for (index, (outcome, number)) in answers.enumerated() where outcome.isMade {
        made.append(try self.made(members[index].one, number, results[index]))
        learnTables(of: members[index].one, results[index])
      }
      keepsHistory.store(results[members.count - 1].bool(0, 7), ordering: .relaxed)
      try take(results[members.count], behind: number, own: made)
      // The first answer had the keys that the server has added.
      if answers.contains(where: { $0.0 == .repeated }) { forgetKeysOfValues() }
      return members.indices.map { index in
        Result { () throws(StoreError) in
          try commit(members[index].one, answers[index], results[index])
        }
      }
    } catch {
      return members.map { _ in .failure(error) }
    }
  }

  /// Returns a commit that was made, or throws the error of one that was refused.
  private func commit(
    _ one: OutgoingCommit, _ answer: (outcome: Schema.Outcome, number: UInt64),
    _ result: QueryResult
  ) throws(StoreError) -> Commit {
    if answer.outcome.isMade { return one.commit.numbered(answer.number) }
    // Commits of others may have changed other keys of a table than those in the ranges.
    if answer.outcome == .conflict, uncontestedNumber(one) != nil { return try send(one) }
    throw try refusal(answer.outcome, result, one, lastNumber: answer.number)
  }
}
