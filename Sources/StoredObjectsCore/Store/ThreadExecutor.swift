package import Locks

/// A serial executor that runs an actor on a thread outside of Swift's pool.
///
///     actor Library {
///       private let executor = ThreadExecutor()
///       nonisolated var unownedExecutor: UnownedSerialExecutor {
///         executor.asUnownedSerialExecutor()
///       }
///       private let store: Store
///       init(backend: any StoreBackend) { store = Store(backend: backend) }
///     }
///
/// A save waits for the disk, and sometimes a read does. With this executor an actor blocks only
/// its own thread meanwhile, not one that it shares with all other actors.
///
/// An actor has a thread only while it has jobs. It takes an idle thread of the process, or a new
/// one, and keeps it until no job is left. So a thousand actors that have nothing to do need no
/// thread, and as many can wait at the same time as the system has threads. Two calls of an actor
/// may run on different threads: don't keep values in thread-local storage.
public final class ThreadExecutor: SerialExecutor {
  private let queue: WorkQueue

  /// Creates an executor, which takes a thread when it needs one.
  public init() { queue = WorkQueue() }

  /// Creates an executor that takes threads of a pool.
  package init(_ pool: ThreadPool) { queue = WorkQueue(pool) }

  /// Enqueues a job; jobs run in the order in which they are added.
  ///
  /// If the system has no thread left, the job waits for a thread of another executor.
  ///
  /// - Precondition: the system can start a thread for the first job of the process.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // A job retains the executor until it has run.
    let hasThread = queue.run { [self] in
      unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    }
    precondition(hasThread, "The system has no thread left for a ThreadExecutor.")
  }
}
