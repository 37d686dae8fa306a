import Locks
import StoreEngine

/// The idle readers of a container, and the reads that wait for one.
final class ReaderPool: Sendable {
  private let state: Locked<State>

  private struct State: Sendable {
    /// The reader that was used last comes last: its store is the most up to date.
    var idle: [SnapshotReader]
    var waiting: [Waiting] = []
    /// The numbers of the reads that are about to wait and were not cancelled.
    var arriving: Set<Int> = []
    var lastNumber = 0
  }

  private struct Waiting: Sendable {
    let number: Int
    let continuation: CheckedContinuation<SnapshotReader, any Error>
  }

  init(_ backend: any StoreBackend, _ recipe: StoreRecipe, count: Int) {
    state = Locked(State(idle: (0..<count).map { _ in SnapshotReader(backend, recipe) }))
  }

  /// The number of idle readers.
  var idleCount: Int { state.withLock { $0.idle.count } }
  /// The number of reads that wait for a reader.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Waits for a reader; readers are assigned in the order of the calls.
  ///
  /// - Throws: `CancellationError` if the task is cancelled meanwhile.
  func take() async throws -> SnapshotReader {
    if let reader = state.withLock({ $0.idle.popLast() }) { return reader }
    let number = arrive()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wait(Waiting(number: number, continuation: $0)) }
    } onCancel: {
      cancel(number)
    }
  }

  private func arrive() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.arriving.insert(state.lastNumber)
      return state.lastNumber
    }
  }

  private func wait(_ waiting: Waiting) {
    let outcome = state.withLock { state -> Result<SnapshotReader, any Error>? in
      guard state.arriving.remove(waiting.number) != nil else {
        return .failure(CancellationError())
      }
      if let reader = state.idle.popLast() { return .success(reader) }
      state.waiting.append(waiting)
      return nil
    }
    if let outcome { waiting.continuation.resume(with: outcome) }
  }

  private func cancel(_ number: Int) {
    let waiting = state.withLock { state -> Waiting? in
      state.arriving.remove(number)
      return state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
    }
    waiting?.continuation.resume(throwing: CancellationError())
  }

  /// Puts a reader back, or passes it to the read that has waited longest.
  func putBack(_ reader: SnapshotReader) {
    let next = state.withLock { state -> Waiting? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.idle.append(reader)
      return nil
    }
    next?.continuation.resume(returning: reader)
  }
}
