import Files
import StoreEngine
import Synchronization

// The functions by which all calls ask the server.
extension PostgreSQLBackend {
  /// Runs statements, outside of a transaction unless the backend is a snapshot, and retries
  /// failures.
  func run(_ statements: [Statement]) throws(StoreError) -> [QueryResult] {
    if let held {
      let transaction = try held.transaction(at: location)
      return try reading { () throws(ServerFailure) in try transaction.run(statements) }
    }
    return try perform { (connection) throws(ServerFailure) in try connection.run(statements) }
  }

  /// Calls a closure with a connection, and retries failures.
  ///
  /// It retries once if the connection was lost, and until the timeout if other transactions were
  /// in the way. The closure must change nothing, or be safe to run twice.
  func perform<Result>(
    _ body: (Connection) throws(ServerFailure) -> Result
  ) throws(StoreError) -> Result {
    try retrying { () throws(ServerFailure) in
      try pool.withConnection(isUrgent: isDelivering, body)
    }
  }

  /// Whether this thread is notifying stores of commits, for which other threads may wait.
  var isDelivering: Bool { deliverer.load(ordering: .relaxed) == currentThread() }

  /// Retries a closure like ``perform(_:)``; the closure takes a connection itself.
  func retrying<Result>(
    _ body: () throws(ServerFailure) -> Result
  ) throws(StoreError) -> Result {
    try checkOpen()
    var lossesLeft = 1
    var othersFirst = Backoff(configuration.timeout)
    while true {
      do throws(ServerFailure) {
        return try body()
      } catch {
        if error.isLost { lossesLeft -= 1 }
        let mayRetry = error.isLost ? lossesLeft >= 0 : error.isTransient && othersFirst.pause()
        guard mayRetry else { throw error.error(at: location) }
        try checkOpen()
      }
    }
  }

  /// Runs a statement that reads, and learns in the same round trip of the commits of others.
  ///
  /// These include all commits that the statement has seen, and maybe later ones.
  func read(_ statement: Statement) throws(StoreError) -> QueryResult {
    try read([statement])[0]
  }

  /// Runs statements that read, each as of its own commit, like ``read(_:)``.
  func read(_ statements: [Statement]) throws(StoreError) -> [QueryResult] {
    if held != nil { return try run(statements) }
    let known = coordinator.journal.lastNumber
    let results = try run(statements + [newsStatement(behind: known)])
    try take(results[statements.count], behind: known)
    return results
  }

  /// Reads an answer; an answer that is not valid throws the error of the store.
  func reading<Result>(
    _ body: () throws(ServerFailure) -> Result
  ) throws(StoreError) -> Result {
    do throws(ServerFailure) { return try body() } catch { throw error.error(at: location) }
  }

  /// Asks for the commits of others.
  ///
  /// - Returns: The number of the last commit.
  func poll() throws(StoreError) -> UInt64 {
    let known = coordinator.journal.lastNumber
    if held != nil { return known }
    let results = try run([newsStatement(behind: known)])
    try take(results[0], behind: known)
    return coordinator.journal.lastNumber
  }
}
