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
/// thread of its own meanwhile, and none of those that all other actors share. The thread starts with
/// the actor's first work, and ends with the executor.
public final class ThreadExecutor: SerialExecutor {
  private let queue = Locked(Queue())
  private let thread = Locked<JoinedThread?>(nil)

  private struct Queue {
    var work: [Work] = []
    var isClosed = false
  }

  private struct Work {
    let job: UnownedJob
    /// Lives for as long as its work.
    let executor: ThreadExecutor
  }

  /// Makes an executor, whose thread starts when it is needed.
  public init() {}

  deinit { queue.change { $0.isClosed = true } }

  /// Adds work, which is done in its order.
  ///
  /// - Precondition: the system has a thread left when the first work comes.
  public func enqueue(_ job: consuming ExecutorJob) {
    let work = Work(job: UnownedJob(job), executor: self)
    start()
    queue.change { $0.work.append(work) }
  }

  private func start() {
    thread.withLock { thread in
      if thread != nil { return }
      thread = JoinedThread { [queue] in
        // Nothing of what is done is held while more is waited for.
        while Self.workOnce(queue) {}
      }
      precondition(thread != nil, "The system has no thread left for a ThreadExecutor.")
    }
  }

  private static func workOnce(_ queue: Locked<Queue>) -> Bool {
    let work = queue.change(once: { $0.isClosed || !$0.work.isEmpty }) { queue -> [Work] in
      defer { queue.work = [] }
      return queue.work
    }
    for one in work { unsafe one.job.runSynchronously(on: one.executor.asUnownedSerialExecutor()) }
    return !work.isEmpty
  }
}
