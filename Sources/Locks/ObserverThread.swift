/// A thread that runs while there are observers: it begins with the first and ends with the last.
package final class ObserverThread: Sendable {
  private let state = Locked(State())

  private struct State {
    var observerCount = 0
    var thread: JoinedThread?
    /// Counts the threads that there have been, so that each knows whether it is still wanted.
    var number = 0
    var hasEnded = false
  }

  /// No thread yet.
  package init() {}

  /// Adds an observer, and begins a thread for the first.
  ///
  /// - Parameter body: What the thread does until it is no longer wanted.
  package func addObserver(
    _ body: @escaping @Sendable (_ isWanted: () -> Bool) -> Void
  ) {
    state.withLock { state in
      state.observerCount += 1
      guard state.observerCount == 1, !state.hasEnded else { return }
      state.number += 1
      state.thread = JoinedThread { [self, number = state.number] in
        body { self.state.withLock { $0.number == number } }
      }
    }
  }

  /// Removes an observer; the last one ends the thread.
  ///
  /// - Parameters:
  ///   - isWaiting: Whether the call returns only once the thread has ended. It must not wait where
  ///     the caller holds a lock that the thread may need.
  ///   - wake: Ends what the thread waits for.
  package func removeObserver(isWaiting: Bool = true, wake: () -> Void = {}) {
    let thread = state.withLock { state -> JoinedThread? in
      state.observerCount -= 1
      return state.observerCount == 0 ? Self.takeThread(from: &state) : nil
    }
    if !isWaiting { thread?.detach() }
    if thread != nil { wake() }
    // Not under the lock, which the thread takes.
    withExtendedLifetime(thread) {}
  }

  /// Ends the thread, and begins no other.
  package func end() {
    let thread = state.withLock { state in
      state.hasEnded = true
      return Self.takeThread(from: &state)
    }
    withExtendedLifetime(thread) {}
  }

  private static func takeThread(from state: inout State) -> JoinedThread? {
    defer { state.thread = nil }
    state.number += 1
    return state.thread
  }
}
