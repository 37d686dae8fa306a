import Locks

/// Brings a log to the disk on a thread of its own, so that no save waits for a busy disk.
///
/// The header that says how large the log is must not be on the disk before the log is. A save that
/// lets the log grow leaves the header here, and a later save writes it once the disk has the rest.
final class BackgroundSync: Sendable {
  private enum State {
    case idle
    case running
    case done(Result<CommitLogSlot, StoreError>)
  }

  private let state = Locked(State.idle)
  private let thread = Locked<JoinedThread?>(nil)
  private let usesThread: Bool

  /// Does nothing yet.
  ///
  /// - Parameter usesThread: False for a sync that is over when ``start(_:for:)`` returns.
  init(usesThread: Bool) { self.usesThread = usesThread }

  /// Starts to bring everything that was written so far to the disk, unless a sync is under way.
  ///
  /// - Parameters:
  ///   - storage: The log.
  ///   - slot: The header that holds once that is done.
  func start(_ storage: StoreFile, for slot: CommitLogSlot) {
    let starts = state.withLock { state in
      guard case .idle = state else { return false }
      state = .running
      return true
    }
    if starts { run { [self] in finish(storage, slot) } }
  }

  private func run(_ body: @escaping @Sendable () -> Void) {
    let started = usesThread ? JoinedThread(body) : nil
    if started == nil { body() }
    // What ran before it has come to its end.
    thread.withLock { $0 = started }
  }

  private func finish(_ storage: StoreFile, _ slot: CommitLogSlot) {
    let result = Result { () throws(StoreError) in
      try storage.synchronize()
      return slot
    }
    state.withLock { $0 = .done(result) }
  }

  /// The header of a sync that has come to its end since the last call; nil when none has.
  ///
  /// - Throws: Why the disk has not got everything.
  func takeHeader() throws(StoreError) -> CommitLogSlot? {
    let result = state.withLock { state -> Result<CommitLogSlot, StoreError>? in
      guard case .done(let result) = state else { return nil }
      state = .idle
      return result
    }
    return try result?.get()
  }

  /// Waits for the sync that is under way.
  func wait() { thread.withLock { $0 = nil } }
}
