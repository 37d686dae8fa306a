import Locks

/// A serial executor that runs an actor on a dedicated thread.
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
/// its own thread meanwhile, not one that it shares with all other actors. The thread starts with
/// the actor's first job, and ends with the executor.
public final class ThreadExecutor: SerialExecutor {
  private let thread = Locked<WorkThread?>(nil)

  /// Creates an executor, whose thread starts when it is needed.
  public init() {}

  /// Enqueues a job; jobs run in the order in which they are added.
  ///
  /// - Precondition: the system can start another thread when the first job is added.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // A job retains the executor until it has run.
    startedThread().run { [self] in
      unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    }
  }

  private func startedThread() -> WorkThread {
    thread.withLock { thread in
      guard let started = thread ?? WorkThread() else {
        preconditionFailure("The system has no thread left for a ThreadExecutor.")
      }
      thread = started
      return started
    }
  }
}
