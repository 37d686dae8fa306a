/// Closures that run one by one, in order of arrival.
///
/// They run on a thread of the ``ThreadPool``, which the queue keeps until it is empty. So a queue
/// without work holds no thread, and a burst of work stays on one.
package final class WorkQueue: Sendable {
  private let state = Locked(State())
  private let ownPool: ThreadPool?

  private struct State {
    var work: [ThreadPool.Work] = []
    /// Whether a thread runs the closures, or is about to.
    var isRunning = false
  }

  /// Creates an empty queue.
  ///
  /// - Parameter pool: The pool of its threads; nil for that of the process.
  package init(_ pool: ThreadPool? = nil) { ownPool = pool }

  private var pool: ThreadPool { ownPool ?? .shared }

  /// Makes sure that ``run(_:)`` finds a thread; returns false if the system has none left.
  package func start() -> Bool { pool.start() }

  /// Adds a closure, which runs after those added before.
  ///
  /// - Returns: false if the process has no thread for it; once ``start()`` has returned true, there
  ///   always is one. The closure doesn't run then.
  @discardableResult
  package func run(_ body: @escaping ThreadPool.Work) -> Bool {
    if addsToRunning(body) { return true }
    let pool = pool
    guard pool.start() else { return false }
    let begins = state.withLock { state in
      defer { state.isRunning = true }
      state.work.append(body)
      return !state.isRunning
    }
    if begins { pool.runEventually { [self] in while runOnce() {} } }
    return true
  }

  /// Adds a closure if a thread runs the closures of the queue, which needs nothing of the pool.
  private func addsToRunning(_ body: @escaping ThreadPool.Work) -> Bool {
    state.withLock { state in
      if state.isRunning { state.work.append(body) }
      return state.isRunning
    }
  }

  /// Runs the closures that have arrived; returns false if there are none.
  private func runOnce() -> Bool {
    let work = state.withLock { state in
      defer { state.work = [] }
      state.isRunning = !state.work.isEmpty
      return state.work
    }
    for body in work { body() }
    return !work.isEmpty
  }
}
