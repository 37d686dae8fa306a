extension KeyValueStore {
  /// Does a put or a delete for a task.
  func performForTask(_ write: SingleWrite) async throws -> Bool {
    try await queued {
      .single(write, $0)
    } orHere: {
      try self.perform(write)
    }
  }

  /// Does a write of several keys for a task.
  func writeForTask<Result: Sendable>(
    _ body: @escaping @Sendable (inout KeyValueBatch) throws -> Result
  ) async throws -> Result {
    try await queued { continuation in
      .batch(
        TaskWrites.Batch { mayWait, completion in
          self.enqueue(mayWait: mayWait, body) { result in
            continuation.resume(with: result.mapError { ($0 as? OutdatedWrite)?.cause ?? $0 })
            completion()
          }
        } cancel: {
          continuation.resume(throwing: CancellationError())
        })
    } orHere: {
      try self.write(body)
    }
  }

  /// Does something else that writes for a task.
  func performForTask<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await queued { continuation in
      .batch(
        TaskWrites.Batch { _, completion in
          continuation.resume(with: Swift.Result { try body() })
          completion()
        } cancel: {
          continuation.resume(throwing: CancellationError())
        })
    } orHere: {
      try body()
    }
  }

  /// Waits for what is queued, which is taken back when the task is cancelled; where there is no
  /// thread, it is done here.
  private func queued<Result: Sendable>(
    _ write: (CheckedContinuation<Result, any Error>) -> TaskWrites.Write,
    orHere perform: () throws -> Result
  ) async throws -> Result {
    try checkProcess()
    try Task.checkCancellation()
    guard taskWrites.start() else { return try perform() }
    let ticket = taskWrites.newTicket()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        taskWrites.append(.init(ticket: ticket, write: write(continuation)), of: self)
        // It may have been cancelled before there was anything to take back.
        if Task.isCancelled { taskWrites.cancel(ticket) }
      }
    } onCancel: {
      taskWrites.cancel(ticket)
    }
  }
}
