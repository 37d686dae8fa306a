import StoreEngine

/// A transaction for several reads that see the same commit, for the duration of one call.
///
/// Its end is sent without waiting for the answer, so a call with one page takes one round trip.
final class ReadTransaction {
  private let pool: ConnectionPool
  private let location: String
  private var connection: Connection?

  fileprivate init(_ pool: ConnectionPool, _ location: String, _ connection: Connection) {
    (self.pool, self.location, self.connection) = (pool, location, connection)
  }

  deinit { end() }

  /// Runs a statement.
  func run(_ statement: Statement) throws(StoreError) -> QueryResult {
    guard let connection else { throw ServerFailure.unexpectedAnswer.error(at: location) }
    do throws(ServerFailure) {
      return try connection.run([statement])[0]
    } catch {
      throw error.error(at: location)
    }
  }

  /// Ends the transaction, once.
  func end() {
    guard let connection else { return }
    self.connection = nil
    connection.runWithoutWaiting(Statement("commit"))
    pool.giveBack(connection)
  }
}

extension PostgreSQLBackend {
  /// Begins a transaction with its first statements, and learns of the commits of others.
  ///
  /// One round trip.
  func beginReading(
    _ statements: [Statement]
  ) throws(StoreError) -> (transaction: ReadTransaction, results: [QueryResult]) {
    let begin = Statement("begin isolation level repeatable read read only")
    let known = coordinator.journal.lastNumber
    let (connection, results) = try retrying { () throws(ServerFailure) in
      let connection = try pool.take(isUrgent: isDelivering)
      do throws(ServerFailure) {
        let news = newsStatement(behind: known)
        return (connection, try connection.run([begin] + statements + [news]))
      } catch {
        connection.runWithoutWaiting(Statement("rollback"))
        pool.giveBack(connection, after: error)
        throw error
      }
    }
    let transaction = ReadTransaction(pool, location, connection)
    try take(results[results.count - 1], behind: known)
    return (transaction, Array(results[1..<results.count - 1]))
  }
}

/// The limits of a page of a scan: the number of rows, and of their bytes.
///
/// A page has at least one row. Scans begin with small pages, because many of them pause soon.
struct PageSize {
  var (rows, bytes) = (64, 64 << 10)

  mutating func grow() { (rows, bytes) = (min(rows * 4, 4096), 256 << 10) }

  var parameters: [Parameter] { [.int(rows), .int(bytes)] }

  /// Whether no rows follow a page that has `count` of the `found` rows.
  func isLast(count: Int, found: Int) -> Bool { count == found && found < rows }
}
