import StoreEngine

/// Several reads that see the same commit: a transaction that lasts for one call.
///
/// Its end is sent and not waited for, so that a call of one page is one round trip.
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
  /// Begins a transaction with its first statements, in one round trip, and hears of others' commits.
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

/// How much a page of a scan has at most: so many rows, of so many bytes together, and one row at
/// least.
///
/// Scans begin with small pages, as many of them pause soon.
struct PageSize {
  var (rows, bytes) = (64, 64 << 10)

  mutating func grow() { (rows, bytes) = (min(rows * 4, 4096), 256 << 10) }

  var parameters: [Parameter] { [.int(rows), .int(bytes)] }

  /// Whether nothing comes behind a page that has some of the rows which were found.
  func isLast(count: Int, found: Int) -> Bool { count == found && found < rows }
}
