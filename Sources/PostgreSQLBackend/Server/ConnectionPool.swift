import Files
import Locks
import StoreEngine

/// The connections of a backend, each of which is used by one thread at a time.
final class ConnectionPool: Sendable {
  private let target: ConnectionTarget
  private let timeout: Duration
  private let state: Locked<State>
  private let process = currentProcess()

  private struct State {
    var idle: [Connection] = []
    /// The number of connections that may still be opened.
    var room: Int
    var isClosed = false
  }

  init(_ target: ConnectionTarget, _ configuration: PostgreSQLConfiguration) {
    (self.target, timeout) = (target, configuration.timeout)
    state = Locked(State(room: max(1, configuration.maximumConnectionCount)))
  }

  var isClosed: Bool { state.withLock(\.isClosed) }

  /// Closes the idle connections; the others are closed when they are returned.
  func close() {
    let idle = state.change { state in
      defer { state.idle = [] }
      state.isClosed = true
      return state.idle
    }
    // In a child process, closing the parent's connections properly would end them for the parent.
    if process != currentProcess() { for connection in idle { connection.abandon() } }
  }

  /// Closes the idle connections, because the server may have been restarted.
  private func closeIdle() { state.withLock { $0.idle = [] } }

  /// Throws if the backend is closed, or in a forked process.
  func check() throws(StoreError) {
    if process != currentProcess() { throw StoreError.forked(target.location) }
    if isClosed {
      throw StoreError(.closed, "The backend has been closed.", at: .init(path: target.location))
    }
  }

  /// Calls a closure with a connection.
  ///
  /// An urgent call gets an additional connection instead of waiting, because threads that hold
  /// connections may wait for it.
  func withConnection<Result>(
    isUrgent: Bool = false, _ body: (Connection) throws(ServerFailure) -> Result
  ) throws(ServerFailure) -> Result {
    let connection = try take(isUrgent: isUrgent)
    do {
      let result = try body(connection)
      giveBack(connection)
      return result
    } catch {
      giveBack(connection, after: error)
      throw error
    }
  }

  /// Takes a connection, until ``giveBack(_:)``.
  func take(isUrgent: Bool) throws(ServerFailure) -> Connection {
    let idle = state.change(once: { isUrgent || !$0.idle.isEmpty || $0.room > 0 }) { state in
      if let last = state.idle.popLast() { return last as Connection? }
      state.room -= 1
      return nil
    }
    if let idle { return idle }
    do {
      return try Connection(target, timeout: timeout)
    } catch {
      state.change { $0.room += 1 }
      throw error
    }
  }

  /// Puts back a connection that has failed; if it is lost, the idle ones are, too.
  func giveBack(_ connection: Connection, after failure: ServerFailure) {
    if failure.isLost { closeIdle() }
    giveBack(connection)
  }

  /// Puts a connection back into the pool.
  func giveBack(_ connection: Connection) {
    state.change { state in
      if connection.isUsable, !state.isClosed {
        state.idle.append(connection)
      } else {
        state.room += 1
      }
    }
  }
}
