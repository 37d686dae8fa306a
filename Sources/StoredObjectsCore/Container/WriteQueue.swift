import Locks
import StoreEngine

/// The writes of a container that wait for their turn.
final class WriteQueue: Sendable {
  private let state = Locked(State())

  private struct State: Sendable {
    var writes: [any QueuedWrite] = []
    /// Whether a task takes writes from the queue.
    var isServed = false
  }

  /// The number of waiting writes.
  var waitingCount: Int { state.withLock { $0.writes.count } }

  /// Adds a write.
  ///
  /// - Returns: Whether no task takes writes, so that the caller has to start one.
  func append(_ write: any QueuedWrite) -> Bool {
    state.withLock { state in
      state.writes.append(write)
      defer { state.isServed = true }
      return !state.isServed
    }
  }

  /// Takes the first writes; nil if there are none, and the next ``append(_:)`` returns true.
  func take(atMost count: Int) -> [any QueuedWrite]? {
    state.withLock { state in
      if state.writes.isEmpty {
        state.isServed = false
        return nil
      }
      let taken = Array(state.writes.prefix(count))
      state.writes.removeFirst(taken.count)
      return taken
    }
  }
}

/// A waiting write with any result type.
protocol QueuedWrite: AnyObject, Sendable {
  /// Runs the closure, perhaps again, and keeps its result.
  func run(in store: Store) throws

  /// Ends the wait, with an error or with the last result of the closure.
  func finish(_ error: (any Error)?)
}

/// A write, and the task that waits for it.
final class TypedWrite<Value: Sendable>: QueuedWrite {
  private let body: @Sendable (Store) throws -> Value
  private let state = Locked(State())

  private struct State: Sendable {
    var continuation: CheckedContinuation<Value, any Error>?
    var value: Value?
    var isCancelled = false
  }

  init(_ body: @escaping @Sendable (Store) throws -> Value) { self.body = body }

  /// Starts the wait of the task.
  func begin(_ continuation: CheckedContinuation<Value, any Error>) {
    state.withLock { $0.continuation = continuation }
  }

  /// Prevents the closure from running, unless it has begun.
  func cancel() { state.withLock { $0.isCancelled = true } }

  func run(in store: Store) throws {
    if state.withLock({ $0.isCancelled }) { throw CancellationError() }
    let value = try body(store)
    if let failure = store.fetchFailures.first { throw StoreError.unreadable(failure) }
    state.withLock { $0.value = value }
  }

  func finish(_ error: (any Error)?) {
    let (continuation, value) = state.withLock { state in
      defer { state.continuation = nil }
      return (state.continuation, state.value)
    }
    if let error {
      continuation?.resume(throwing: error)
    } else if let value {
      continuation?.resume(returning: value)
    }
  }
}
