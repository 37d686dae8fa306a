import Locks
import StoreEngine

/// A transaction for reading, and its connection, which go on for as long as this is held.
///
/// Its statements run one after the other. If one of them fails, the transaction is over, and
/// later statements are refused. Its end is sent without waiting for the answer.
final class OpenTransaction: Sendable {
  private let pool: ConnectionPool
  private let connection: Locked<Connection?>
  /// Whether the connection counts among those of the pool.
  private let isCounted: Bool

  /// Takes a connection, which does not count for a transaction that lasts: others don't wait for
  /// its end.
  init(_ pool: ConnectionPool, isUrgent: Bool, isCounted: Bool) throws(ServerFailure) {
    (self.pool, self.isCounted) = (pool, isCounted)
    connection = Locked(
      isCounted ? try pool.take(isUrgent: isUrgent) : try pool.takeUncounted())
  }

  /// Throws in a process that was forked from the one with the connection.
  func checkProcess() throws(StoreError) { try pool.checkProcess() }

  deinit {
    guard let connection = connection.withLock(\.self) else { return }
    // A forked process must not end the transaction of its parent.
    if pool.isForked { return connection.abandon() }
    end(connection, Statement("commit"))
  }

  /// Runs statements, all of which see the same commit.
  func run(_ statements: [Statement]) throws(ServerFailure) -> [QueryResult] {
    try connection.withLock { (held) throws(ServerFailure) in
      guard let connection = held else { throw .snapshotEnded }
      do throws(ServerFailure) {
        return try connection.run(statements)
      } catch {
        held = nil
        pool.noteFailure(error)
        end(connection, Statement("rollback"))
        throw error
      }
    }
  }

  private func end(_ connection: Connection, _ statement: Statement) {
    connection.runWithoutWaiting(statement)
    if isCounted { pool.giveBack(connection) } else { pool.giveBack(uncounted: connection) }
  }
}
