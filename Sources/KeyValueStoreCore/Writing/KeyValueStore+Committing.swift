import StoreEngine

extension KeyValueStore {
  /// Works out a write and commits it.
  ///
  /// - Returns: what has become of the closure; where it has thrown, nothing is written.
  /// - Throws: what the backend throws; ``OutdatedWrite`` as the cause when a write that the batch
  ///   has seen has failed.
  func writeOnce<Result, Failure: Error>(
    _ body: (inout KeyValueBatch) throws(Failure) -> Result
  ) throws(StoreError) -> Swift.Result<Result, Failure> {
    try repeatedly { () throws(StoreError) in
      try beginTurn()
      defer { endTurn() }
      var batch = KeyValueBatch(self)
      let result = try finish(&batch, body)
      if case .success = result { try commit(batch) }
      return result
    }
  }

  /// Does a put or a delete in a commit of its own.
  ///
  /// - Returns: for a delete, whether the key was there.
  func perform(_ write: SingleWrite) throws(StoreError) -> Bool {
    while true {
      do {
        return try writeOnce { (batch) throws(StoreError) in try write.apply(to: &batch) }.get()
      } catch  where error.causeOfOutdated != nil {
        // What came before it has failed. It need not.
      }
    }
  }

  /// Lets a closure write to a batch, and sweeps on the way.
  private func finish<Result, Failure: Error>(
    _ batch: inout KeyValueBatch, _ body: (inout KeyValueBatch) throws(Failure) -> Result
  ) throws(StoreError) -> Swift.Result<Result, Failure> {
    let result = Swift.Result { () throws(Failure) in try body(&batch) }
    do throws(StoreError) {
      // The closure may have hidden that.
      try news?.checkReads()
      guard case .success = result else {
        // The reason may be something that was never written.
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

  /// How many expired items a write takes along at most.
  private static let sweptAtOnce = 64

  /// Ends the turn, and waits until what a batch has seen is safe.
  ///
  /// - Throws: `StoreError` with ``OutdatedWrite`` as its cause.
  private func waitForBasis(of batch: KeyValueBatch) throws(StoreError) {
    endTurn()
    if batch.basis.isEmpty { return }
    writesUnderWay.wait(for: batch.basis)
    try batch.basis.requireSuccess()
  }

  /// Commits a batch; the turn ends when the commit has its place.
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
          try backend.commit(changes, request(write, changes))
        }
        // Most backends have said so.
        write.didCommit()
      } catch {
        write.didFail(error)
        throw error
      }
    }
  }

  /// Commits changes of the list of tables, in the turn.
  func commitExclusively(_ changes: ChangeSet) throws(StoreError) {
    _ = try backend.coordinator.whileTakingTurn(holdingProcesses: isShared) {
      (turn) throws(StoreError) in
      try backend.commit(changes, request(turn, changes))
    }
  }

  private func request(
    _ follower: any CommitFollower, _ changes: ChangeSet
  ) -> CommitRequest {
    var request = CommitRequest(basis: news?.basis(of: changes))
    request.follower = follower
    return request
  }

  /// Works out a write and gives its commit its place.
  ///
  /// - Parameters:
  ///   - mayWait: Whether this thread may wait for the disk.
  ///   - body: Works out the write.
  ///   - completion: Gets what has become of the closure, once that is safe; on any thread.
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
      try queueing.enqueue(changes, request(write, changes), mayWait: mayWait) { outcome in
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
