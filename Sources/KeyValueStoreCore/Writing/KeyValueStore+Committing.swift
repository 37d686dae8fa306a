import FoundationEssentials
import Locks
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
  ///   - body: Prepares the write; again on another thread if a server has refused its commit.
  ///   - completion: Receives the result of the closure once it is durable; on any thread.
  func enqueue<Value: Sendable, Failure: Error>(
    mayWait: Bool, _ body: @escaping @Sendable (inout KeyValueBatch) throws(Failure) -> Value,
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
        try enqueue(batch, mayWait: mayWait) { [self] error in
          guard let error else { return completion(.success(value)) }
          guard news?.isOutdated(error) == true else { return completion(.failure(error)) }
          onOtherThread { [self] in
            completion(Result { () throws(StoreError) in try writeOnce(body) })
          }
        }
      }
    } catch { completion(.failure(error)) }
  }

  private func enqueue(
    _ batch: KeyValueBatch, mayWait: Bool,
    _ completion: @escaping @Sendable (StoreError?) -> Void
  ) throws(StoreError) {
    let changes = batch.changes
    if let awaiting, !changes.isEmpty { return try enqueue(batch, changes, awaiting, completion) }
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

  /// Adds a commit to the queue of a server, and lets this thread go.
  ///
  /// The turn ends with the commit, because the server may refuse it.
  private func enqueue(
    _ batch: KeyValueBatch, _ changes: ChangeSet, _ awaiting: any CommitAwaiting,
    _ completion: @escaping @Sendable (StoreError?) -> Void
  ) throws(StoreError) {
    let turn = try backend.coordinator.takeTurn(holdingProcesses: isShared)
    let write = WriteUnderWay(batch, turn)
    let request = request(write, changes, batch.now)
    let operation = backend.begin(.commit, byteCount: changes.bytes.count)
    writesUnderWay.append(write)
    leaveTurn()
    let finish: @Sendable (StoreError?) -> Void = { [self] error in
      operation?.end(error)
      // The backend may have called it already.
      if let error { write.didFail(error) } else { write.didCommit() }
      turn.finish()
      writesUnderWay.turn.end()
      completion(error)
    }
    do throws(StoreError) {
      try awaiting.enqueue(changes, request) { outcome in
        if case .failure(let error) = outcome { finish(error) } else { finish(nil) }
      }
    } catch { finish(error) }
  }

  /// Runs a closure on another thread; here if there is none.
  private func onOtherThread(_ body: @escaping @Sendable () -> Void) {
    if !ThreadPool.shared.run(body) { body() }
  }
}
