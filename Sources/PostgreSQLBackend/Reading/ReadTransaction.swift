import StoreEngine

/// A transaction for several reads that see the same commit, for the duration of one call.
///
/// Its end is sent without waiting for the answer, so a call with one page takes one round trip.
/// The reads of a snapshot are in the snapshot's transaction, which does not end with the call.
final class ReadTransaction {
  private let location: String
  private var transaction: OpenTransaction?

  fileprivate init(_ location: String, _ transaction: OpenTransaction) {
    (self.location, self.transaction) = (location, transaction)
  }

  /// Runs a statement.
  func run(_ statement: Statement) throws(StoreError) -> QueryResult {
    guard let transaction else { throw ServerFailure.unexpectedAnswer.error(at: location) }
    do throws(ServerFailure) {
      return try transaction.run([statement])[0]
    } catch {
      throw error.error(at: location)
    }
  }

  /// Ends the transaction, once.
  func end() { transaction = nil }
}

extension PostgreSQLBackend {
  /// Begins a transaction with its first statements, and learns of the commits of others.
  ///
  /// One round trip.
  func beginReading(
    _ statements: [Statement]
  ) throws(StoreError) -> (transaction: ReadTransaction, results: [QueryResult]) {
    if let held {
      let transaction = try held.transaction(at: location)
      let results = try reading { () throws(ServerFailure) in try transaction.run(statements) }
      return (ReadTransaction(location, transaction), results)
    }
    let (transaction, results) = try beginTransaction(statements, isCounted: true)
    return (ReadTransaction(location, transaction), results)
  }

  /// Begins a transaction that lasts for as long as the result is held.
  func beginTransaction(
    _ statements: [Statement], isCounted: Bool
  ) throws(StoreError) -> (transaction: OpenTransaction, results: [QueryResult]) {
    try beginTransaction(
      "begin isolation level repeatable read read only", statements, isCounted: isCounted)
  }

  /// Runs a statement that sees what was committed while it waited for a lock, and learns of the
  /// commits of others.
  ///
  /// One round trip.
  func readCommitted(_ statement: Statement) throws(StoreError) -> QueryResult {
    try beginTransaction("begin isolation level read committed", [statement], isCounted: true)
      .results[0]
  }

  private func beginTransaction(
    _ text: String, _ statements: [Statement], isCounted: Bool
  ) throws(StoreError) -> (transaction: OpenTransaction, results: [QueryResult]) {
    let begin = Statement(text)
    let known = coordinator.journal.lastNumber
    let (transaction, results) = try retrying { () throws(ServerFailure) in
      let transaction = try OpenTransaction(pool, isUrgent: isDelivering, isCounted: isCounted)
      return (
        transaction, try transaction.run([begin] + statements + [newsStatement(behind: known)])
      )
    }
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
