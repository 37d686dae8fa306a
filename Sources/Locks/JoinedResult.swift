/// What a thread of its own works out, for whoever waits for it.
///
/// The thread has come to its end when nobody holds this any more.
package final class JoinedResult<Value: Sendable>: Sendable {
  private let found = Locked<Value?>(nil)
  private let thread: Locked<JoinedThread?>

  /// Starts a thread; nil when the system has none left.
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

  /// Waits for the result, and gives it away; nil when it was given before.
  package func take() -> Value? {
    // Its end is waited for where it is let go.
    thread.withLock { $0 = nil }
    return found.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
