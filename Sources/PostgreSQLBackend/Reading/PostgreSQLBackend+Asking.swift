import Files
import StoreEngine
import Synchronization

// How all calls ask the server.
extension PostgreSQLBackend {
  /// Lets a closure use a connection: once more where that was lost, and until the timeout where
  /// others were in the way.
  ///
  /// For what changes nothing, or may happen twice.
  func perform<Result>(
    _ body: (Connection) throws(ServerFailure) -> Result
  ) throws(StoreError) -> Result {
    try retrying { () throws(ServerFailure) in
      try pool.withConnection(isUrgent: isDelivering, body)
    }
  }

  /// Whether this thread tells stores of commits, for which others may wait.
  var isDelivering: Bool { deliverer.load(ordering: .relaxed) == currentThread() }

  /// The same for a closure that takes a connection itself.
  func retrying<Result>(
    _ body: () throws(ServerFailure) -> Result
  ) throws(StoreError) -> Result {
    try pool.check()
    var lossesLeft = 1
    var othersFirst = Backoff(configuration.timeout)
    while true {
      do throws(ServerFailure) {
        return try body()
      } catch {
        if error.isLost { lossesLeft -= 1 }
        let mayRetry = error.isLost ? lossesLeft >= 0 : error.isTransient && othersFirst.pause()
        guard mayRetry else { throw error.error(at: location) }
        try pool.check()
      }
    }
  }

  /// Reads: runs a statement, and hears in the same round trip what others have committed up to then,
  /// or later.
  func read(_ statement: Statement) throws(StoreError) -> QueryResult {
    let known = coordinator.journal.lastNumber
    let results = try perform { (connection) throws(ServerFailure) in
      try connection.run([statement, newsStatement(behind: known)])
    }
    try take(results[1], behind: known)
    return results[0]
  }

  /// Reads an answer, and says what it is when it makes no sense.
  func reading<Result>(
    _ body: () throws(ServerFailure) -> Result
  ) throws(StoreError) -> Result {
    do throws(ServerFailure) { return try body() } catch { throw error.error(at: location) }
  }

  /// Asks what others have committed.
  ///
  /// - Returns: The number of the last commit.
  func poll() throws(StoreError) -> UInt64 {
    let known = coordinator.journal.lastNumber
    let results = try perform { (connection) throws(ServerFailure) in
      try connection.run([newsStatement(behind: known)])
    }
    try take(results[0], behind: known)
    return coordinator.journal.lastNumber
  }
}
