/// A thread that runs while there are observers: from the first to the last.
package final class ObserverThread: Sendable {
  private let state = Locked(State())

  private struct State {
    var observerCount = 0
    var thread: JoinedThread?
    /// The number of threads so far, by which each knows whether it is still wanted.
    var number = 0
    var hasEnded = false
  }

  /// Creates an object without a thread.
  package init() {}

  /// Adds an observer; starts a thread for the first one.
  ///
  /// - Parameter body: The work of the thread until it is no longer wanted.
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
  ///   - isWaiting: Whether to return only after the thread has ended. Pass false if the caller
  ///     holds a lock that the thread may need.
  ///   - wake: Interrupts the waiting of the thread.
  package func removeObserver(isWaiting: Bool = true, wake: () -> Void = {}) {
    let thread = state.withLock { state -> JoinedThread? in
      state.observerCount -= 1
      return state.observerCount == 0 ? Self.takeThread(from: &state) : nil
    }
    if !isWaiting { thread?.detach() }
    if thread != nil { wake() }
    // Released without the lock, because the thread takes it.
    withExtendedLifetime(thread) {}
  }

  /// Ends the thread, and starts no other.
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
