import StoreEngine

extension StoreError {
  /// The error of a task that was cancelled before its write began.
  static var cancelled: StoreError {
    StoreError(
      .cancelled, "The task was cancelled before the write began: nothing was written.",
      underlying: CancellationError())
  }
}

extension KeyValueStore {
  /// Performs a put or a delete for a task.
  func performForTask(_ write: SingleWrite) async throws(StoreError) -> Bool {
    try await queued {
      .single(write, $0)
    } orHere: { () throws(StoreError) in
      try self.perform(write)
    }
  }

  /// Performs a write of several keys for a task.
  ///
  /// - Returns: The result of the closure. If it has thrown, nothing is written.
  func writeForTask<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable (inout KeyValueBatch) throws(Failure) -> Value
  ) async throws(StoreError) -> Result<Value, Failure> {
    try await queued { continuation in
      .batch(
        TaskWrites.Batch { mayWait, completion in
          self.enqueue(mayWait: mayWait, body) { outcome in
            continuation.resume(returning: outcome.mapError { $0.causeOfOutdated ?? $0 })
            completion()
          }
        } cancel: {
          continuation.resume(returning: .failure(.cancelled))
        })
    } orHere: { () throws(StoreError) in
      try self.attempt(body)
    }
  }

  /// Performs another operation that writes for a task.
  func performForTask<Value: Sendable>(
    _ body: @escaping @Sendable () throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await queued { continuation in
      .batch(
        TaskWrites.Batch { _, completion in
          continuation.resume(returning: Result { () throws(StoreError) in try body() })
          completion()
        } cancel: {
          continuation.resume(returning: .failure(.cancelled))
        })
    } orHere: { () throws(StoreError) in
      try body()
    }
  }

  /// Waits for a queued write, which is removed from the queue if the task is cancelled.
  ///
  /// If there is no thread, the write is performed here.
  private func queued<Value: Sendable>(
    _ write: (CheckedContinuation<Result<Value, StoreError>, Never>) -> TaskWrites.Write,
    orHere perform: () throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try checkProcess()
    if Task.isCancelled { throw .cancelled }
    guard taskWrites.start() else { return try perform() }
    let ticket = taskWrites.newTicket()
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        taskWrites.append(.init(ticket: ticket, write: write(continuation)), of: self)
        // The task may have been cancelled before the write was in the queue.
        if Task.isCancelled { taskWrites.cancel(ticket) }
      }
    } onCancel: {
      taskWrites.cancel(ticket)
    }
    return try outcome.get()
  }
}
