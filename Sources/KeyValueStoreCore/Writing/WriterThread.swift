import Locks

/// The thread that writes for tasks, so that none of Swift's own waits for the disk.
///
/// It is started by the first task that writes, and ends with its store.
final class WriterThread: Sendable {
  private let queue: WriteQueue
  private let thread = Locked<JoinedThread?>(nil)

  init(_ queue: WriteQueue) { self.queue = queue }

  deinit { queue.close() }

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
    try Task.checkCancellation()
    guard writerThread.start() else { return try perform(write) }
    let ticket = writes.newTicket()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        writes.append(write, ticket, continuation)
        // It may have been cancelled before there was anything to take back.
        if Task.isCancelled { writes.cancel(ticket) }
      }
    } onCancel: {
      writes.cancel(ticket)
    }
  }

  /// Does something that writes for a task.
  func performForTask<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    guard writerThread.start() else { return try body() }
    let ticket = writes.newTicket()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let run = { @Sendable in continuation.resume(with: Swift.Result { try body() }) }
        let cancel = { @Sendable in continuation.resume(throwing: CancellationError()) }
        writes.append(WriteQueue.Batch(ticket: ticket, run: run, cancel: cancel))
        if Task.isCancelled { writes.cancel(ticket) }
      }
    } onCancel: {
      writes.cancel(ticket)
    }
  }
}
