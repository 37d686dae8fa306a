import Locks
import Synchronization

/// Syncs a log on a thread of its own, so that no save waits for a busy disk.
///
/// The header that states the size of the log must not be on the disk before the log is. A save
/// that makes the log grow leaves its header here. A later save writes the header once the disk has
/// the rest.
final class BackgroundSync: Sendable {
  private enum State {
    case idle
    case running
    case done(Result<CommitLogSlot, StoreError>)
  }

  private let state = Locked(State.idle)
  /// Whether a sync has finished; every save asks.
  private let isDone = Atomic(false)
  private let thread = Locked<JoinedThread?>(nil)
  private let usesThread: Bool

  /// Creates a sync that has not started.
  ///
  /// - Parameter usesThread: False for a sync that has finished when ``start(_:for:)`` returns.
  init(usesThread: Bool) { self.usesThread = usesThread }

  /// Starts to sync everything written so far, unless a sync is running.
  ///
  /// - Parameters:
  ///   - storage: The log.
  ///   - slot: The header that is valid after the sync.
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
    // Replacing the thread joins the previous one, which has finished.
    thread.withLock { $0 = started }
  }

  private func finish(_ storage: StoreFile, _ slot: CommitLogSlot) {
    let result = Result { () throws(StoreError) in
      try storage.synchronize()
      return slot
    }
    state.withLock { state in
      state = .done(result)
      isDone.store(true, ordering: .releasing)
    }
  }

  /// Returns the header of a sync that has finished since the last call, or nil.
  ///
  /// - Throws: The error of the sync.
  func takeHeader() throws(StoreError) -> CommitLogSlot? {
    guard isDone.load(ordering: .acquiring) else { return nil }
    let result = state.withLock { state -> Result<CommitLogSlot, StoreError>? in
      guard case .done(let result) = state else { return nil }
      isDone.store(false, ordering: .relaxed)
      state = .idle
      return result
    }
    return try result?.get()
  }

  /// Waits for the running sync.
  func wait() { thread.withLock { $0 = nil } }
}
