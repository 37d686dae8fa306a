import Files
import Locks
import Synchronization

/// Keeps a copy up to date with a store that this process has open, on a thread of its own.
///
///     let replication = try StoreReplication(of: backend, to: copy)
///     ...
///     replication.stop()
///
/// The thread is woken by each commit to the store, also by those of other processes that share it.
/// It ends with ``stop()``, when nobody holds this object, and with the first error; a full disk is
/// tried again with the next commit. Safe on any thread.
public final class StoreReplication: Sendable {
  private let worker: ReplicationWorker
  private let source: any StoreBackend
  private let listener: CommitListener
  private let thread: Locked<JoinedThread?>

  /// Begins to follow.
  ///
  /// - Parameters:
  ///   - source: The followed store; it keeps a history.
  ///   - target: The copy, or an empty backend.
  /// - Throws: ``StoreError``, as ``StoreFollower/init(_:source:)``.
  public init(
    of source: any StoreBackend, to target: any StoreBackend
  ) throws(StoreError) {
    let worker = ReplicationWorker(try StoreFollower(target), of: source)
    listener = CommitListener({ _ in worker.wake() }, didLoseTrack: { worker.wake() })
    source.coordinator.attach(listener)
    (self.worker, self.source) = (worker, source)
    thread = Locked(JoinedThread { worker.run() })
    if thread.withLock({ $0 == nil }) {
      throw StoreError(.ioError, "The system has no thread left. End other programs.")
    }
  }

  deinit { stop() }

  /// Ends the thread, once it has applied the commit that it is at.
  public func stop() {
    source.coordinator.detach(listener)
    worker.stop()
    let ended = thread.withLock { $0.take() }
    withExtendedLifetime(ended) {}
  }

  /// The error that has ended it, or the last one on a full disk; nil while all is well.
  public var failure: StoreError? { worker.failure }

  /// The last commit that the copy has.
  public var commitNumber: UInt64 { worker.commitNumber }

  /// Waits until the copy has a commit.
  ///
  /// - Parameter number: The number of the commit.
  /// - Throws: ``StoreError``, the error that has ended the thread; `closed` after ``stop()``.
  public func wait(forCommit number: UInt64) throws(StoreError) {
    try worker.wait(forCommit: number)
  }
}

/// What the thread of a replication does.
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
    (self.source, self.follower) = (source, Locked(follower))
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
