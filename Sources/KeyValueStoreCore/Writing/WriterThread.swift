import Files
import Locks

/// The thread that writes for tasks, so that none of Swift's own waits for the disk.
///
/// It is started by the first task that writes, and ends with its store.
final class WriterThread: Sendable {
  private let queue: WriteQueue
  private let thread = Locked<JoinedThread?>(nil)
  private let process = currentProcess()

  init(_ queue: WriteQueue) { self.queue = queue }

  deinit { if process == currentProcess() { queue.close() } }

  /// Starts the thread if it is not running; false when the system has none left.
  func start() -> Bool {
    thread.withLock { thread in
      if thread == nil {
        thread = JoinedThread { [queue] in
          // Nothing of a piece of work is held while the next one is waited for.
          while Self.workOnce(queue) {}
        }
      }
      return thread != nil
    }
  }

  private static func workOnce(_ queue: WriteQueue) -> Bool {
    switch queue.next() {
    case .singles(let store): queue.work(store.commit)
    case .batch(let batch): batch.run()
    case nil: return false
    }
    return true
  }
}

extension KeyValueStore {
  /// Does a put or a delete for a task.
  func performForTask(_ write: SingleWrite) async throws -> Bool {
    try refuseFork()
    try Task.checkCancellation()
    guard writerThread.start() else { return try perform(write) }
    return try await queued { writes.append(write, $0, $1) }
  }

  /// Does something that writes for a task.
  func performForTask<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try refuseFork()
    try Task.checkCancellation()
    guard writerThread.start() else { return try body() }
    return try await queued { ticket, continuation in
      let run = { @Sendable in continuation.resume(with: Swift.Result { try body() }) }
      let cancel = { @Sendable in continuation.resume(throwing: CancellationError()) }
      writes.append(WriteQueue.Batch(ticket: ticket, run: run, cancel: cancel))
    }
  }

  /// Waits for what is queued, which is taken back when the task is cancelled.
  private func queued<Result: Sendable>(
    _ append: (_ ticket: Int, CheckedContinuation<Result, any Error>) -> Void
  ) async throws -> Result {
    let ticket = writes.newTicket()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        append(ticket, continuation)
        // It may have been cancelled before there was anything to take back.
        if Task.isCancelled { writes.cancel(ticket) }
      }
    } onCancel: {
      writes.cancel(ticket)
    }
  }
}
