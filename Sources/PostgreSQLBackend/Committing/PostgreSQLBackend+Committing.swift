import Files
public import FoundationEssentials
import Locks
public import StoreEngine
import Synchronization

extension PostgreSQLBackend {
  /// The maximum size of a record, a named buffer, or a key with its value: 256 MiB.
  public static let maximumByteCount = 256 << 20

  /// Commits a change set with one call of a function in the server, in one round trip.
  ///
  /// Commits of several threads at the same time are sent together, in one transaction, for which
  /// the server waits for its disk once. Each has its own number and fails alone.
  ///
  /// Complexity: linear in the change set, and one round trip after one that is in progress. It
  /// sends the commit again if the answer was lost, if transactions of others were in the way, or
  /// if the server needs all of it at once for the history.
  ///
  /// - Throws: `StoreError` with `readOnly`, `conflict`, `rowExists`, `tooLarge`,
  ///   `invalidArgument`, `recordMissing` (an external value is gone), `encrypted` or
  ///   `notEncrypted` (another program has created the store with or without a key), `noSpace`,
  ///   `ioError`, `damaged`, `notAuthentic`, `closed` or `forked`; nothing has changed then.
  ///   `reopenNeeded` if the answer was lost, or if the server has lost commits.
  @discardableResult
  public func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit? {
    try checkMayCommit(request)
    if changes.isEmpty { return nil }
    let one = try outgoingCommit(changes, request)
    let token = one.commit.token
    underWay.withLock { $0[token] = one }
    defer { underWay.withLock { $0[token] = nil } }
    // The queue's thread may be the one that notifies a listener, which commits now.
    let commit =
      isDelivering
      ? try write(one)
      : try queue.perform(one, changes.bytes.count, request.follower, by: self)
    coordinator.raiseRequiredNumber(to: commit.number)
    return commit
  }

  func checkMayCommit(_ request: CommitRequest) throws(StoreError) {
    try pool.check()
    if isReadOnly { throw .readOnly(at: location) }
    try request.check()
  }

  /// Checks and prepares a commit, on the thread that makes it.
  func outgoingCommit(
    _ changes: ChangeSet, _ request: CommitRequest
  ) throws(StoreError) -> OutgoingCommit {
    try changes.checkRecordSizes(Self.maximumByteCount, keyLimit: Self.maximumByteCount) {
      name(of: $0)
    }
    return try OutgoingCommit(changes, request, self)
  }

  /// Sends a commit in a transaction of its own.
  func send(_ one: OutgoingCommit) throws(StoreError) -> Commit {
    var doubt: Backoff?
    if let outcome = sendSmall([one], &doubt).first ?? nil { return try outcome.get() }
    return try sendCompletely(one, &doubt)
  }

  /// Sends a commit with all that the server needs to judge it.
  func sendCompletely(
    _ one: OutgoingCommit, _ doubt: inout Backoff?
  ) throws(StoreError) -> Commit {
    let (changes, commit) = (one.changes, one.commit)
    var rangesSince = uncontestedNumber(one)
    // The function of the server makes the entry of a commit from all of its parts.
    var isDivided = !(keepsHistory.load(ordering: .relaxed) && isUndividable(changes))
    while true {
      let known = coordinator.journal.lastNumber
      let plan = try one.arguments.plan(
        commit, required: one.requiredNumber, rangesSince: rangesSince, isDivided: isDivided)
      let results = try send(
        plan, newsStatement(behind: known, besides: [commit.token]), commit, &doubt)
      let (outcome, number) = try self.outcome(results[0])
      keepsHistory.store(results[0].bool(0, 7), ordering: .relaxed)
      let news = results[results.count - 1]
      if outcome.isMade {
        learnTables(of: one, results[0])
        let made = try made(one, number, results[0])
        try take(news, behind: known, own: [made])
        // The first answer had the keys that the server has added.
        if outcome == .repeated { forgetKeysOfValues() }
        return made.commit
      }
      try take(news, behind: known)
      if outcome == .undivided, isDivided {
        guard isUndividable(changes) else { throw tooLargeForHistory(changes) }
        isDivided = false
        continue
      }
      let uncontested = uncontestedNumber(one)
      guard outcome == .conflict, let uncontested, uncontested > rangesSince ?? 0 else {
        throw try refusal(outcome, results[0], one, lastNumber: number)
      }
      // Only this process knows that the keys that others have changed are in no range.
      rangesSince = uncontested
    }
  }

  private func send(
    _ plan: CommitPlan, _ news: Statement, _ commit: Commit, _ doubt: inout Backoff?
  ) throws(StoreError) -> [QueryResult] {
    do throws(DeliveryFailure) {
      return try deliver(&doubt) { (connection) throws(ServerFailure) in
        try plan.run(on: connection, news)
      }
    } catch { throw error.error(of: commit, at: location) }
  }

  /// Returns a commit that the server has made, with the keys that it has added.
  func made(
    _ one: OutgoingCommit, _ number: UInt64, _ answer: QueryResult
  ) throws(StoreError) -> NewCommit {
    let kept = try reading { () throws(ServerFailure) in try answer.byteArrays(0, 6) }
    let changes = one.changes.adding(kept.compactMap(\.self), to: catalogue)
    return NewCommit(
      commit: one.commit.numbered(number), changes: changes, request: one.request)
  }

  func outcome(
    _ answer: QueryResult
  ) throws(StoreError) -> (Schema.Outcome, number: UInt64) {
    try reading { () throws(ServerFailure) in
      guard let outcome = Schema.Outcome(rawValue: try answer.number(0, 0)) else {
        throw ServerFailure.unexpectedAnswer
      }
      return (outcome, UInt64(clamping: try answer.number(0, 1)))
    }
  }

  /// Returns the last commit up to which others haven't changed the basis of a commit.
  ///
  /// The server can't know which keys of an encrypted store are in a range, so this process checks.
  ///
  /// - Returns: The number of the last known commit; nil if others have changed the basis, if that
  ///   is unknown, and for stores that are not encrypted.
  func uncontestedNumber(_ one: OutgoingCommit) -> UInt64? {
    guard sealing != nil, let basis = one.request.basis, one.isBasedOnRanges else { return nil }
    let number = coordinator.journal.lastNumber
    let conflict = coordinator.journal.conflict(of: one.changes, on: basis, besides: [])
    return conflict == nil ? number : nil
  }

  // MARK: Refusals

  /// Returns the error of a commit that the server has refused.
  func refusal(
    _ outcome: Schema.Outcome, _ answer: QueryResult, _ one: OutgoingCommit, lastNumber: UInt64
  ) throws(StoreError) -> StoreError {
    if outcome == .otherSealing { throw otherSealing() }
    if outcome == .valueMissing { throw valueGone() }
    if outcome == .following { throw follows() }
    let arguments = one.arguments
    var conflict = FoundConflict(
      basedOn: one.request.basis?.number ?? 0, lastNumber: lastNumber,
      isExpired: outcome == .expired)
    try reading { () throws(ServerFailure) in
      for (place, row) in zip(try answer.ints(0, 2), try answer.ints(0, 3)) {
        guard case .records(let table) = try arguments.table(place) else { continue }
        conflict.add(UInt32(clamping: row), of: table)
      }
      for place in try answer.ints(0, 5) {
        guard case .ordered(let table) = try arguments.table(place) else { continue }
        conflict.orderedTables.insert(table)
      }
      conflict.names = try answer.ints(0, 4).map { (place) throws(ServerFailure) in
        try arguments.bufferName(place)
      }
    }
    let named = try conflict.named(table: { name(of: $0) }, ordered: { name(of: $0).fileName })
    guard outcome == .rowExists else { return named.error(path: location) }
    return StoreError(
      .rowExists, "The metadata row was set back, or a program wrote the row by hand.",
      at: .init(path: location, className: named.rows.first?.table, rowID: named.rows.first?.rowID))
  }

  private func otherSealing() -> StoreError {
    StoreError(
      sealing == nil ? .encrypted : .notEncrypted,
      """
      Another program has created the store \(sealing == nil ? "with" : "without") a key: open it \
      the same way.
      """,
      at: .init(path: location))
  }

  // MARK: Looking for commits

  /// Returns the commit with a token, among the last 4,096.
  ///
  /// It waits for all saves to this store that the server has begun to execute, and later saves wait
  /// for it. So a save whose answer was lost isn't made after this has returned nil. A backend that
  /// is only opened for reading doesn't wait.
  ///
  /// Complexity: one round trip, after the saves to this store that are in progress.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func commit(withToken token: UUID) throws(StoreError) -> Commit? {
    let text =
      isReadOnly
      ? """
      select number, token, author, "time", based_on from stored_objects.commits
      where store = $1 and token = $2
      """ : "select * from stored_objects.find_commit($1, $2)"
    let statement = Statement(text, [.int4(storeID), .uuid(token)])
    // A snapshot has a transaction of its own, and nothing to wait for.
    let result =
      try isReadOnly || held != nil ? read(statement) : readCommitted(statement)
    if result.rowCount == 0 { return nil }
    return try reading { () throws(ServerFailure) in try Commit(result, 0, 0, sealing) }
  }

  /// Continues the numbers of commits after those of another store.
  ///
  /// Complexity: linear in the number of commits that the server remembers, and one round trip.
  ///
  /// - Throws: `StoreError` with `noSpace`, `readOnly` (the server is a standby), `ioError`,
  ///   `damaged`, `closed` or `forked`.
  public func continueNumbers(after last: Commit?) throws(StoreError) {
    let number = Parameter.int(last?.number ?? 0)
    var statements = [
      Statement(
        "select pg_advisory_xact_lock(\(Schema.lockClass), $1)::text", [.int4(storeID)]),
      Statement(
        """
        select stored_objects.count_rows(s.id, \(Schema.lastCommit))
        from stored_objects.stores s where s.id = $1
        """, [.int4(storeID)]),
      Statement(
        """
        update stored_objects.stores set last_commit = $2, forgotten = $2, counted = $2 where id = $1
        """, [.int4(storeID), number]),
      Statement("delete from stored_objects.commits where store = $1", [.int4(storeID)]),
      Statement(
        """
        update stored_objects.external_values set listed = least(listed, greatest($2, 1))
        where store = $1
        """, [.int4(storeID), number]),
    ]
    if let last {
      statements.append(
        Statement(
          """
          insert into stored_objects.commits (
            store, number, token, author, "time", based_on, weight) values ($1, $2, $3, $4, $5, $6, 0)
          """,
          [
            .int4(storeID), number, .uuid(last.token), .bytes(try serverAuthor(last)),
            .int(last.microseconds), .int(last.basedOn),
          ]))
    }
    _ = try run(statements)
    coordinator.begin(after: last)
    sortedKeys.withLock { $0.loseTrack(upTo: last?.number ?? 0) }
  }
}

extension CommitArguments {
  /// Returns the table with a number in the server's answer.
  fileprivate func table(_ place: Int) throws(ServerFailure) -> Table {
    guard tables.indices.contains(place - 1) else { throw ServerFailure.unexpectedAnswer }
    return tables[place - 1]
  }

  /// Returns the name of a buffer with a number in the server's answer.
  fileprivate func bufferName(_ place: Int) throws(ServerFailure) -> String {
    guard plain.names.indices.contains(place - 1) else { throw ServerFailure.unexpectedAnswer }
    return plain.names[place - 1].name
  }
}
