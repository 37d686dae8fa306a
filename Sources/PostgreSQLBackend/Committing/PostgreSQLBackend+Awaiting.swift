import Files
import Locks
package import StoreEngine

/// The answer to statements that were sent before.
struct ServerAnswer: Sendable {
  let results: Result<[QueryResult], ServerFailure>
  /// The number of statements that were executed before one failed.
  let executedCount: Int

  func get() throws(ServerFailure) -> [QueryResult] { try results.get() }
}

/// The calls that wait for the commits of others.
struct WaitingQuestions: Sendable {
  var waiting: [@Sendable () -> Void] = []
  /// Whether a request is in progress, or is about to be.
  var isAsking = false
}

// A wait for the server holds no thread: the thread that has sent the statements returns, the one of
// `SocketPoller` watches the sockets of all connections, and a thread of the pool reads the answer.
extension PostgreSQLBackend: CommitAwaiting {
  /// Queues a commit, see `CommitAwaiting`.
  package func enqueue(
    _ changes: ChangeSet, _ request: CommitRequest,
    _ completion: @escaping @Sendable (CommitOutcome) -> Void
  ) throws(StoreError) {
    try checkMayCommit(request)
    let one = try outgoingCommit(changes, request)
    let token = one.commit.token
    underWay.withLock { $0[token] = one }
    queue.enqueue(one, changes.bytes.count, request.follower, by: self, mayWait: false) {
      [self] outcome in
      underWay.withLock { $0[token] = nil }
      completion(outcome)
    }
  }

  /// Asks for the commits of others, see `CommitAwaiting`.
  package func askForCommits(_ completion: @escaping @Sendable () -> Void) {
    if held != nil || isFresh { return completion() }
    let begins = questions.withLock { questions in
      defer { questions.isAsking = true }
      questions.waiting.append(completion)
      return !questions.isAsking
    }
    if begins { askForAll() }
  }

  /// Asks for the commits of others, once for all calls that wait.
  ///
  /// A call needs a request that begins after it, so the next request waits for this one.
  private func askForAll() {
    let completions = questions.withLock { questions in
      defer { questions.waiting = [] }
      questions.isAsking = !questions.waiting.isEmpty
      return questions.waiting
    }
    if completions.isEmpty { return }
    let finish: @Sendable () -> Void = { [self] in
      askForAll()
      for completion in completions { completion() }
    }
    guard let connection = idleConnection(false) else {
      return runElsewhere {
        _ = try? self.poll()
        finish()
      }
    }
    let known = coordinator.journal.lastNumber
    send([newsStatement(behind: known)], on: connection) { [self] answer in
      do {
        try take(try answer.get()[0], behind: known)
      } catch {
        // Retries, and waits.
        _ = try? poll()
      }
      finish()
    }
  }

  /// Takes a connection for a request without a thread, which may wait for one, or open one, if
  /// `mayConnect` is true; returns nil if there is none.
  func idleConnection(_ mayConnect: Bool) -> Connection? {
    if (try? pool.check()) == nil { return nil }
    if let idle = pool.takeIdle() { return idle }
    // The caller meets the same failure if it tries again without this.
    return mayConnect ? try? pool.take(isUrgent: isDelivering) : nil
  }

  /// Sends statements, and returns before the answer comes.
  ///
  /// - Parameters:
  ///   - statements: The statements; if there are none, the answer has no results.
  ///   - connection: A connection that was taken from the pool, which is given back.
  ///   - completion: Called once with the answer, on a thread that may wait.
  func send(
    _ statements: [Statement], on connection: Connection,
    _ completion: @escaping @Sendable (ServerAnswer) -> Void
  ) {
    do throws(ServerFailure) {
      if !statements.isEmpty { try connection.begin(statements) }
      let request = WaitingRequest(statements: statements, connection: connection, completion)
      guard !statements.isEmpty, let events = try connection.proceed(isReady: false) else {
        return runElsewhere { self.end(request) { () throws(ServerFailure) in } }
      }
      wait(for: events, request)
    } catch {
      let request = WaitingRequest(statements: statements, connection: connection, completion)
      runElsewhere { self.end(request) { () throws(ServerFailure) in throw error } }
    }
  }

  /// Statements that were sent on a connection, and their receiver.
  private struct WaitingRequest: Sendable {
    let statements: [Statement]
    let connection: Connection
    let completion: @Sendable (ServerAnswer) -> Void

    init(
      statements: [Statement], connection: Connection,
      _ completion: @escaping @Sendable (ServerAnswer) -> Void
    ) {
      (self.statements, self.connection, self.completion) = (statements, connection, completion)
    }
  }

  /// Runs a closure on another thread, because this one may hold locks; here if there is none.
  private func runElsewhere(_ body: @escaping @Sendable () -> Void) {
    if !ThreadPool.shared.run(body) { body() }
  }

  private func wait(for events: Int16, _ request: WaitingRequest) {
    let isWaiting = SocketPoller.shared.wait(
      for: events, on: request.connection.descriptor, atMost: configuration.timeout
    ) { [self] isReady in
      do throws(ServerFailure) {
        guard isReady else { throw request.connection.giveUp() }
        if let events = try request.connection.proceed(isReady: true) {
          wait(for: events, request)
        } else {
          end(request) { () throws(ServerFailure) in }
        }
      } catch { end(request) { () throws(ServerFailure) in throw error } }
    }
    // Without the poller, a thread waits.
    if !isWaiting { runElsewhere { self.end(request) { () throws(ServerFailure) in } } }
  }

  /// Reads the answer, and gives the connection back.
  private func end(_ request: WaitingRequest, _ check: () throws(ServerFailure) -> Void) {
    let connection = request.connection
    let results = Result { () throws(ServerFailure) in
      try check()
      return request.statements.isEmpty ? [] : try connection.end(request.statements)
    }
    let answer = ServerAnswer(results: results, executedCount: connection.executedCount)
    switch results {
    case .success: pool.giveBack(connection)
    case .failure(let failure): pool.giveBack(connection, after: failure)
    }
    request.completion(answer)
  }
}
