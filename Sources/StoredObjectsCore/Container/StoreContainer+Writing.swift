import StoreEngine

extension StoreContainer {
  /// Runs a closure with a store, and saves all of its changes or none.
  ///
  ///     try await container.write { store in
  ///       guard let song = try store.object(id) else { throw NoSuchSong() }
  ///       song.playCount += 1
  ///     }
  ///
  /// When this returns, the changes are saved. If it throws, nothing has changed.
  ///
  /// Writes run one after the other, in the order of the calls, on a thread of the container. On
  /// PostgreSQL, they hold no thread while they wait for the server to commit. Writes that wait at the
  /// same time are saved by one commit. Each sees the changes of those before it, and an error
  /// discards only its own changes.
  ///
  /// **The closure may run more than once.** It runs again if another store of the backend has
  /// saved something that its changes depend on, and if a commit of several writes has failed. So
  /// keep side effects out of it. After ten conflicts in a row, the write throws `conflict`.
  ///
  /// Complexity: that of the closure and of ``Store/saveChanges()``, which waits for the disk once
  /// for all writes that it saves. Also linear in the number of rows changed elsewhere, and of
  /// objects that the closure leaves in memory.
  ///
  /// - Parameter body: Changes objects of the store, and must not save them.
  /// - Returns: The result of the closure.
  /// - Throws: Any error that the closure throws; ``/StoreEngine/StoreError``, as
  ///   ``Store/saveChanges()``; `CancellationError` if the task was cancelled before the closure
  ///   began.
  @discardableResult
  public func write<Value: Sendable>(
    _ body: @escaping @Sendable (Store) throws -> Value
  ) async throws -> Value {
    let write = TypedWrite(body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        write.begin(continuation)
        guard writes.append(write) else { return }
        Task { [writer, writes] in await writer.perform(writes) }
      }
    } onCancel: {
      write.cancel()
    }
  }
}

// MARK: - On the thread for writes

extension StoreActor {
  /// The maximum number of writes in a commit.
  private static let batchSize = 256
  /// The maximum number of attempts of a write that conflicts with saves of other stores.
  private static let attempts = 10

  /// Performs writes until the queue is empty.
  func perform(_ queue: WriteQueue) async {
    while let writes = queue.take(atMost: Self.batchSize) {
      do {
        if let awaiting { try await perform(writes, awaiting) } else { try perform(writes) }
      } catch {
        for write in writes { write.finish(error) }
      }
      // Lets a call that waits to close the container run.
      await Task.yield()
    }
  }

  private func perform(_ writes: [any QueuedWrite]) throws {
    try perform { store in
      store.mergeChanges()
      if let only = writes.first, writes.count == 1 {
        Self.perform(only, in: store)
      } else if !Self.perform(writes, in: store) {
        for write in writes { Self.perform(write, in: store) }
      }
      store.releaseObjects()
    }
  }

  /// Performs writes, and holds no thread while they wait for a server.
  ///
  /// Other jobs of the actor may run during the waits, but none that uses the store: the queue is
  /// served by one task at a time, and ``closeBackend()`` waits.
  private func perform(_ writes: [any QueuedWrite], _ backend: any CommitAwaiting) async throws {
    isWriting = true
    defer { didWrite() }
    let store = try store()
    await withCheckedContinuation { continuation in
      backend.askForCommits { continuation.resume() }
    }
    store.mergeReportedChanges()
    if let only = writes.first, writes.count == 1 {
      await perform(only, in: store, backend)
    } else if await !perform(writes, in: store, backend) {
      for write in writes { await perform(write, in: store, backend) }
    }
    store.releaseObjects()
  }

  private func didWrite() {
    isWriting = false
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  private func perform(
    _ write: any QueuedWrite, in store: Store, _ backend: any CommitAwaiting
  ) async {
    do {
      try await store.transaction(attempts: Self.attempts, awaiting: backend) {
        try write.run(in: store)
      }
      write.finish(nil)
    } catch {
      write.finish(error)
    }
  }

  private func perform(
    _ writes: [any QueuedWrite], in store: Store, _ backend: any CommitAwaiting
  ) async -> Bool {
    var errors = [(any Error)?](repeating: nil, count: writes.count)
    do {
      try await store.transaction(awaiting: backend) { Self.run(writes, in: store, &errors) }
    } catch {
      return false
    }
    for (write, error) in zip(writes, errors) { write.finish(error) }
    return true
  }

  private static func perform(_ write: any QueuedWrite, in store: Store) {
    do {
      try store.transaction(attempts: attempts) { try write.run(in: store) }
      write.finish(nil)
    } catch {
      write.finish(error)
    }
  }

  /// Performs writes and saves them in one commit.
  ///
  /// - Returns: Whether this succeeded; otherwise nothing has changed, and no write has finished.
  private static func perform(_ writes: [any QueuedWrite], in store: Store) -> Bool {
    var errors = [(any Error)?](repeating: nil, count: writes.count)
    do {
      try store.transaction { run(writes, in: store, &errors) }
    } catch {
      return false
    }
    for (write, error) in zip(writes, errors) { write.finish(error) }
    return true
  }

  /// Runs the closures of writes, each of which can fail alone.
  private static func run(
    _ writes: [any QueuedWrite], in store: Store, _ errors: inout [(any Error)?]
  ) {
    for (index, write) in writes.enumerated() {
      do { try store.transaction { try write.run(in: store) } } catch { errors[index] = error }
    }
  }
}
