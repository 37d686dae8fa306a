import StoreEngine

/// A commit that is ready for the backend, and the state that the store updates after it.
struct PreparedCommit {
  let changes: ChangeSet
  let request: CommitRequest
  let metadata: [(RegisteredClass, ClassMetadata)]
  let valueChanges: ExternalChanges
  let orderedTableNews: UInt64
}

// A save that holds no thread while the backend commits. Nothing else may use the store meanwhile:
// its owner is an actor, on which other jobs may run during the wait.
//
// The turn of the commit is a lock of the thread that prepares it. It ends when the commit is in the
// queue of the backend, which is before the wait begins. A commit that has to keep others from
// committing, because it deletes objects or changes the metadata of a class, holds its lock until
// the backend has committed, and so it holds the thread.
extension Store {
  /// Saves all changes like ``saveChanges()``.
  func saveChanges(
    awaiting backend: any CommitAwaiting, isolation: isolated (any Actor)? = #isolation
  ) async throws(StoreError) {
    tellLookUps()
    let operation = self.backend.begin(.save)
    do throws(StoreError) {
      if try prepareSave() {
        try await commitAllChanges(awaiting: backend)
        finishSave()
      } else {
        acceptChanges()
      }
    } catch {
      operation?.end(error)
      throw error
    }
    operation?.end()
  }

  private func commitAllChanges(
    awaiting backend: any CommitAwaiting, isolation: isolated (any Actor)? = #isolation
  ) async throws(StoreError) {
    var attemptsLeft = mergeAttemptsOfSave
    while true {
      do {
        if commitHook != nil {
          try commitExclusively()
        } else if try await !commitChanges(awaiting: backend) {
          try commitExclusively()
        }
        return
      } catch { try resolveConflicts(of: error, &attemptsLeft) }
    }
  }

  /// Encodes and commits the changes; returns false if another store has committed something that
  /// matters, or must not commit meanwhile.
  private func commitChanges(
    awaiting backend: any CommitAwaiting, isolation: isolated (any Actor)? = #isolation
  ) async throws(StoreError) -> Bool {
    if needsOthersToWait { return false }
    var (encoder, deletionCount) = try encodedChanges()
    if needsOthersToWait { return false }
    var prepared: PreparedCommit?
    var operation: BegunOperation?
    // The closure runs on one thread to its end, which the lock of the turn requires.
    let outcome: CommitOutcome? = await withCheckedContinuation { continuation in
      do throws(StoreError) {
        let turn = try self.backend.coordinator.takeTurn()
        do throws(StoreError) {
          prepared = try prepareCommit(&encoder, deletionCount, turn)
          guard let prepared else {
            turn.finish()
            return continuation.resume(returning: nil)
          }
          operation = self.backend.begin(.commit, byteCount: prepared.changes.bytes.count)
          try backend.enqueue(prepared.changes, prepared.request) { outcome in
            turn.finish()
            continuation.resume(returning: outcome)
          }
        } catch {
          turn.finish()
          throw error
        }
      } catch { continuation.resume(returning: .failure(error)) }
    }
    return try finish(prepared, outcome, operation)
  }

  private func finish(
    _ prepared: PreparedCommit?, _ outcome: CommitOutcome?, _ operation: BegunOperation?
  ) throws(StoreError) -> Bool {
    switch outcome {
    case nil: return false
    case .success(let commit):
      operation?.end()
      if let prepared { finish(prepared, commit) }
      return true
    case .failure(let error):
      operation?.end(error)
      if prepared != nil {
        if error.code == .conflict { return false }
        didFail(error)
      }
      return try failedCommit(error)
    }
  }
}
