import Files
import Locks
import Synchronization

/// A thread that keeps a copy up to date with a store that is open in this process.
///
///     let replication = try StoreReplication(of: backend, to: copy)
///     // …
///     replication.stop()
///
/// Each commit to the store wakes the thread, also a commit of another process that shares the
/// store. The thread ends at ``stop()``, when this object is released, and at the first error.
/// After a full disk it tries again at the next commit.
///
/// You can use a replication from any thread.
public final class StoreReplication: Sendable {
  private let worker: ReplicationWorker
  private let source: any StoreBackend
  private let listener: CommitListener
  private let thread: Locked<JoinedThread?>

  /// Starts a thread that follows a store.
  ///
  /// Complexity: as ``StoreFollower/init(_:source:)``.
  ///
  /// - Parameters:
  ///   - source: The followed store, which must keep a history.
  ///   - target: The copy, or an empty backend.
  /// - Throws: ``StoreError``, as ``StoreFollower/init(_:source:)``; `ioError` if the system can't
  ///   create a thread.
  public init(
    of source: any StoreBackend, to target: any StoreBackend
  ) throws(StoreError) {
    let worker = ReplicationWorker(try StoreFollower(target), of: source)
    listener = CommitListener({ _ in worker.wake() }, didLoseTrack: { worker.wake() })
    source.coordinator.attach(listener)
    (self.worker, self.source) = (worker, source)
    thread = Locked(JoinedThread { worker.run() })
    if thread.withLock({ $0 == nil }) {
      throw StoreError(.ioError, "The system can't create a thread. End other programs.")
    }
  }

  deinit { stop() }

  /// Ends the thread, and waits for the commits that it is applying.
  ///
  /// Complexity: the time of the commits that the thread is applying.
  public func stop() {
    source.coordinator.detach(listener)
    worker.stop()
    let ended = thread.withLock { $0.take() }
    withExtendedLifetime(ended) {}
  }

  /// The error that ended the thread, or that of a full disk; nil if the last attempt succeeded.
  public var failure: StoreError? { worker.failure }

  /// The number of the last commit in the copy.
  public var commitNumber: UInt64 { worker.commitNumber }

  /// Waits until the copy has the commit with a number.
  ///
  /// Complexity: the time until the thread has applied the commit.
  ///
  /// - Parameter number: The number of the commit.
  /// - Throws: ``StoreError`` that ended the thread; `closed` after ``stop()``.
  public func wait(forCommit number: UInt64) throws(StoreError) {
    try worker.wait(forCommit: number)
  }
}

/// The work of a replication's thread.
private final class ReplicationWorker: Sendable {
  private let source: any StoreBackend
  private let follower: Locked<StoreFollower>
  private let state = Locked(State())

  private struct State {
    var hasNews = true
    var isStopped = false
    var number: UInt64 = 0
    var failure: StoreError?

    mutating func fail(_ error: StoreError) {
      failure = error
      if error.code != .noSpace { isStopped = true }
    }
  }

  init(_ follower: StoreFollower, of source: any StoreBackend) {
    self.source = source
    self.follower = Locked(follower)
  }

  func wake() { state.change { $0.hasNews = true } }
  func stop() { state.change { $0.isStopped = true } }
  var failure: StoreError? { state.withLock { $0.failure } }
  var commitNumber: UInt64 { state.withLock { $0.number } }

  func run() {
    while state.change(once: { $0.hasNews || $0.isStopped }, { Self.begin(&$0) }) {
      do throws(StoreError) {
        let number = try follower.withLock { (follower) throws(StoreError) in
          try follower.catchUp(with: source)
          return try follower.position()?.number ?? 0
        }
        state.change { ($0.number, $0.failure) = (number, nil) }
      } catch {
        state.change { $0.fail(error) }
      }
    }
  }

  private static func begin(_ state: inout State) -> Bool {
    state.hasNews = false
    return !state.isStopped
  }

  func wait(forCommit number: UInt64) throws(StoreError) {
    let failure = state.change(once: { $0.number >= number || $0.isStopped }) { state in
      state.number >= number
        ? nil : state.failure ?? StoreError(.closed, "The replication was stopped.")
    }
    if let failure { throw failure }
  }
}
