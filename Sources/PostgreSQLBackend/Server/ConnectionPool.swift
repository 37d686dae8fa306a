import Files
import Locks
import StoreEngine

/// The connections of a backend, each of which is used by one thread at a time.
final class ConnectionPool: Sendable {
  private let target: ConnectionTarget
  private let timeout: Duration
  private let state: Locked<State>
  private let process = currentProcess()
  /// Whether sessions keep statements: not behind a pooler that gives them to others.
  private let keepsStatements = SharedLock(true)

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
    if isForked { for connection in idle { connection.abandon() } }
  }

  /// Closes the idle connections, because the server may have been restarted.
  private func closeIdle() {
    // Released without the lock, and after other threads may open new ones.
    _ = state.change { state in
      defer { state.idle = [] }
      state.room += state.idle.count
      return state.idle
    }
  }

  /// Throws if the backend is closed, or in a forked process.
  func check() throws(StoreError) {
    try checkProcess()
    if isClosed {
      throw StoreError(.closed, "The backend has been closed.", at: .init(path: target.location))
    }
  }

  /// Whether this is a process that was forked from the one with the connections.
  var isForked: Bool { process != currentProcess() }

  /// Throws in a forked process.
  func checkProcess() throws(StoreError) {
    if isForked { throw StoreError.forked(target.location) }
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
      return try newConnection()
    } catch {
      state.change { $0.room += 1 }
      throw error
    }
  }

  /// Takes a connection that is idle, until ``giveBack(_:)``; nil if there is none.
  func takeIdle() -> Connection? { state.withLock { $0.idle.popLast() } }

  private func newConnection() throws(ServerFailure) -> Connection {
    try Connection(target, timeout: timeout, keepsStatements: keepsStatements)
  }

  /// Takes a connection that does not count, until ``giveBack(uncounted:)``.
  ///
  /// It waits for no other thread, and no other thread waits for it.
  func takeUncounted() throws(ServerFailure) -> Connection {
    let idle = state.change { state in
      let last = state.idle.popLast()
      if last != nil { state.room += 1 }
      return last
    }
    if let idle { return idle }
    return try newConnection()
  }

  /// Puts an uncounted connection into the pool if there is room, and closes it otherwise.
  func giveBack(uncounted connection: Connection) {
    state.change { state in
      guard connection.isUsable, !state.isClosed, state.room > 0 else { return }
      state.room -= 1
      state.idle.append(connection)
    }
  }

  /// Puts back a connection that has failed; if it is lost, the idle ones are, too.
  func giveBack(_ connection: Connection, after failure: ServerFailure) {
    noteFailure(failure)
    giveBack(connection)
  }

  /// Closes the idle connections if a connection was lost.
  func noteFailure(_ failure: ServerFailure) { if failure.isLost { closeIdle() } }

  /// Puts a connection back into the pool, or closes it if there are too many.
  func giveBack(_ connection: Connection) {
    state.change { state in
      if connection.isUsable, !state.isClosed, state.room >= 0 {
        state.idle.append(connection)
      } else {
        state.room += 1
      }
    }
  }
}
