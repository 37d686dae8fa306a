/// The result of a closure that runs on its own thread.
///
/// Releasing the object waits for the end of the thread.
package final class JoinedResult<Value: Sendable>: Sendable {
  private let found = SharedLock<Value?>(nil)
  private let thread: Locked<JoinedThread?>

  /// Starts a thread; nil if the system has none left.
  package init?(_ body: @escaping @Sendable () -> Value) {
    let found = found
    guard
      let started = JoinedThread({
        let value = body()
        found.withLock { $0 = value }
      })
    else { return nil }
    thread = Locked(started)
  }

  /// Waits for the result, and returns it the first time; nil after that.
  package func take() -> Value? {
    // Releasing the thread object waits for the thread's end.
    thread.withLock { $0 = nil }
    return found.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
