import StoreEngine

extension KeyValueStore {
  /// Works out a write and commits it.
  ///
  /// - Throws: what the closure throws; what the backend throws; ``OutdatedWrite`` when a write
  ///   that the batch has seen has failed.
  func writeOnce<Result>(_ body: (inout KeyValueBatch) throws -> Result) throws -> Result {
    try beginTurn()
    defer { endTurn() }
    var batch = KeyValueBatch(self)
    let result = try finish(&batch, body)
    try commit(batch)
    return result
  }

  /// Does a put or a delete in a commit of its own.
  ///
  /// - Returns: for a delete, whether the key was there.
  func perform(_ write: SingleWrite) throws -> Bool {
    while true {
      do {
        return try writeOnce { try write.apply(to: &$0) }
      } catch is OutdatedWrite {
        // What came before it has failed. It need not.
      }
    }
  }

  /// Lets a closure write to a batch, and sweeps on the way.
  private func finish<Result>(
    _ batch: inout KeyValueBatch, _ body: (inout KeyValueBatch) throws -> Result
  ) throws -> Result {
    do {
      let result = try body(&batch)
      try batch.sweep(atMost: Self.sweptAtOnce)
      return result
    } catch {
      // The reason may be something that was never written.
      try waitForBasis(of: batch)
      throw error
    }
  }

  /// How many expired items a write takes along at most.
  private static let sweptAtOnce = 64

  /// Ends the turn, and waits until what a batch has seen is safe.
  ///
  /// - Throws: ``OutdatedWrite``.
  private func waitForBasis(of batch: KeyValueBatch) throws(OutdatedWrite) {
    endTurn()
    if batch.basis.isEmpty { return }
    writesUnderWay.wait(for: batch.basis)
    try batch.basis.requireSuccess()
  }

  /// Commits a batch; the turn ends when the commit has its place.
  func commit(_ batch: KeyValueBatch) throws {
    let changes = batch.changes
    if changes.isEmpty { return try waitForBasis(of: batch) }
    try backend.coordinator.whileTakingTurn { turn in
      let write = WriteUnderWay(batch, turn)
      writesUnderWay.append(write)
      do {
        try backend.commit(changes, request(write))
        // Most backends have said so.
        write.didCommit()
      } catch {
        write.didFail(error)
        throw error
      }
    }
  }

  /// Commits changes of the list of tables, in the turn.
  func commitExclusively(_ changes: ChangeSet) throws {
    _ = try backend.coordinator.whileTakingTurn { try backend.commit(changes, request($0)) }
  }

  private func request(_ follower: any CommitFollower) -> CommitRequest {
    var request = CommitRequest()
    request.follower = follower
    return request
  }

  /// Works out a write and gives its commit its place.
  ///
  /// - Parameters:
  ///   - mayWait: Whether this thread may wait for the disk.
  ///   - body: Works out the write.
  ///   - completion: Gets what the closure has returned, once it is safe; on any thread.
  func enqueue<Value: Sendable>(
    mayWait: Bool, _ body: (inout KeyValueBatch) throws -> Value,
    _ completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    do {
      try beginTurn()
      defer { endTurn() }
      var batch = KeyValueBatch(self)
      let value = try finish(&batch, body)
      try enqueue(batch, mayWait: mayWait) { error in
        completion(error.map { .failure($0) } ?? .success(value))
      }
    } catch { completion(.failure(error)) }
  }

  private func enqueue(
    _ batch: KeyValueBatch, mayWait: Bool,
    _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) throws {
    let changes = batch.changes
    guard let queueing, !changes.isEmpty else {
      try commit(batch)
      return completion(nil)
    }
    let turn = try backend.coordinator.takeTurn()
    let write = WriteUnderWay(batch, turn)
    writesUnderWay.append(write)
    do {
      try queueing.enqueue(changes, request(write), mayWait: mayWait) { outcome in
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
