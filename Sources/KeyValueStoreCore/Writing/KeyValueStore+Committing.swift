import FoundationEssentials
import StoreEngine

extension KeyValueStore {
  /// Prepares a write and commits it.
  ///
  /// - Returns: The result of the closure. If it has thrown, nothing is written.
  /// - Throws: The errors of the backend; ``OutdatedWrite`` is the cause if a write that the batch
  ///   has read has failed.
  func writeOnce<Result, Failure: Error>(
    _ body: (inout KeyValueBatch) throws(Failure) -> Result
  ) throws(StoreError) -> Swift.Result<Result, Failure> {
    try repeatedly { () throws(StoreError) in
      try beginTurn()
      defer { endTurn() }
      var batch = KeyValueBatch(self)
      let result = try finish(&batch, body)
      batch.releaseViews()
      if case .success = result { try commit(batch) }
      return result
    }
  }

  /// Performs a put or a delete in a commit of its own.
  ///
  /// - Returns: For a delete, whether the key existed.
  func perform(_ write: SingleWrite) throws(StoreError) -> Bool {
    while true {
      do {
        return try writeOnce { (batch) throws(StoreError) in try write.apply(to: &batch) }.get()
      } catch  where error.causeOfOutdated != nil {
        // An earlier write has failed, but this one need not.
      }
    }
  }

  /// Calls a closure with a batch, and sweeps expired items.
  private func finish<Result, Failure: Error>(
    _ batch: inout KeyValueBatch, _ body: (inout KeyValueBatch) throws(Failure) -> Result
  ) throws(StoreError) -> Swift.Result<Result, Failure> {
    let result = Swift.Result { () throws(Failure) in try body(&batch) }
    do throws(StoreError) {
      // The closure may have swallowed the error.
      try news?.checkReads()
      guard case .success = result else {
        // The closure may have failed because of a write that was never committed.
        try waitForBasis(of: batch)
        return result
      }
      try batch.sweep(atMost: Self.sweptAtOnce)
      return result
    } catch {
      try waitForBasis(of: batch)
      throw error
    }
  }

  /// The maximum number of expired items that a write removes.
  private static let sweptAtOnce = 64

  /// Ends the turn, and waits until the writes that a batch has read are durable.
  ///
  /// - Throws: `StoreError` with ``OutdatedWrite`` as its cause.
  private func waitForBasis(of batch: KeyValueBatch) throws(StoreError) {
    endTurn()
    if batch.basis.isEmpty { return }
    writesUnderWay.wait(for: batch.basis)
    try batch.basis.requireSuccess()
  }

  /// Commits a batch; the turn ends when the commit is in the queue.
  func commit(_ batch: KeyValueBatch) throws(StoreError) {
    let changes = batch.changes
    if changes.isEmpty { return try waitForBasis(of: batch) }
    try backend.coordinator.whileTakingTurn(holdingProcesses: isShared) {
      (turn) throws(StoreError) in
      let write = WriteUnderWay(batch, turn)
      writesUnderWay.append(write)
      do throws(StoreError) {
        _ = try backend.measure(.commit, byteCount: changes.bytes.count) {
          () throws(StoreError) in
          try backend.commit(changes, request(write, changes, batch.now))
        }
        // Most backends have called it already.
        write.didCommit()
      } catch {
        write.didFail(error)
        throw error
      }
    }
  }

  /// Commits changes of the list of tables within the turn.
  func commitExclusively(_ changes: ChangeSet) throws(StoreError) {
    _ = try backend.coordinator.whileTakingTurn(holdingProcesses: isShared) {
      (turn) throws(StoreError) in
      try backend.commit(changes, request(turn, changes))
    }
  }

  private func request(
    _ follower: any CommitFollower, _ changes: ChangeSet, _ time: Date? = nil
  ) -> CommitRequest {
    CommitRequest(time: time, basis: news?.basis(of: changes), follower: follower)
  }

  /// Prepares a write and adds its commit to the queue.
  ///
  /// - Parameters:
  ///   - mayWait: Whether this thread may wait for the disk.
  ///   - body: Prepares the write.
  ///   - completion: Receives the result of the closure once it is durable; on any thread.
  func enqueue<Value: Sendable, Failure: Error>(
    mayWait: Bool, _ body: (inout KeyValueBatch) throws(Failure) -> Value,
    _ completion: @escaping @Sendable (Result<Result<Value, Failure>, StoreError>) -> Void
  ) {
    do throws(StoreError) {
      try repeatedly { () throws(StoreError) in
        try beginTurn()
        defer { endTurn() }
        var batch = KeyValueBatch(self)
        let value = try finish(&batch, body)
        guard case .success = value else { return completion(.success(value)) }
        batch.releaseViews()
        try enqueue(batch, mayWait: mayWait) { error in
          completion(error.map { .failure($0) } ?? .success(value))
        }
      }
    } catch { completion(.failure(error)) }
  }

  private func enqueue(
    _ batch: KeyValueBatch, mayWait: Bool,
    _ completion: @escaping @Sendable (StoreError?) -> Void
  ) throws(StoreError) {
    let changes = batch.changes
    guard let queueing, !changes.isEmpty else {
      try commit(batch)
      return completion(nil)
    }
    let turn = try backend.coordinator.takeTurn(holdingProcesses: isShared)
    let write = WriteUnderWay(batch, turn)
    writesUnderWay.append(write)
    do throws(StoreError) {
      try queueing.enqueue(changes, request(write, changes, batch.now), mayWait: mayWait) {
        outcome in
        turn.finish()
        switch outcome {
        case .success: completion(nil)
        case .failure(let error): completion(error)
        }
      }
    } catch {
      write.didFail(error)
      turn.finish()
      throw error
    }
  }
}
