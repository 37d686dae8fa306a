import Locks

/// Runs an actor on a thread of its own.
///
///     actor Library {
///       private let executor = ThreadExecutor()
///       nonisolated var unownedExecutor: UnownedSerialExecutor {
///         executor.asUnownedSerialExecutor()
///       }
///       private let store: Store
///     }
///
/// A save waits for the disk, and so does a read now and then. An actor with this executor blocks a
/// thread of its own meanwhile, and none of those that all other actors share. The thread starts
/// with the actor's first work, and ends with the executor.
public final class ThreadExecutor: SerialExecutor {
  private let thread = Locked<WorkThread?>(nil)

  /// Makes an executor, whose thread starts when it is needed.
  public init() {}

  /// Adds work, which is done in its order.
  ///
  /// - Precondition: the system has a thread left when the first work comes.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Lives for as long as its work.
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
