import FoundationEssentials
import Locks
import StoreEngine

/// What waits to be written: puts and deletes of single keys, which become one commit, and whole
/// batches of tasks.
///
/// While one commit is brought to the disk, puts and deletes gather, and the next commit takes all
/// of them. A thread that finds nobody at work does the work, its own write and those that have
/// gathered; the others wait until theirs is done, or it is their turn to work. Tasks don't wait
/// here: what they want is done by a thread that asks for the ``next()`` piece of work.
final class WriteQueue: Sendable {
  typealias Continuation = CheckedContinuation<Bool, any Error>
  /// Does several writes in one commit, and says of each what became of it.
  ///
  /// One thread at a time calls it; it asks for the writes when it is ready to do them.
  typealias Commit = (_ take: () -> [SingleWrite]) -> [Result<Bool, any Error>]

  private let state = Locked(State())

  private struct State {
    var singles: [Waiting] = []
    var batches: [Batch] = []
    /// What became of the writes of threads.
    var results: [Int: Result<Bool, any Error>] = [:]
    var lastTicket = 0
    /// How many of the single writes are those of tasks.
    var taskCount = 0
    /// Whether a batch comes before single writes, so that those that keep coming don't keep it
    /// waiting.
    var isBatchNext = false
    var isAtWork = false
    var isClosed = false
  }

  private struct Waiting {
    let ticket: Int
    let write: SingleWrite
    /// Where the task goes on; nil for a thread.
    let continuation: Continuation?
  }

  /// A batch of a task.
  struct Batch: Sendable {
    let ticket: Int
    let run: @Sendable () -> Void
    let cancel: @Sendable () -> Void
  }

  /// So many single writes at most become one commit.
  private static let mostAtOnce = 1024

  /// How many single writes wait for their commit.
  var waitingCount: Int { state.withLock { $0.singles.count } }
  /// How many batches of tasks have not begun.
  var batchCount: Int { state.withLock { $0.batches.count } }

  // MARK: Threads

  /// Does a write, and returns when it is as durable as the backend makes it.
  ///
  /// - Returns: for a delete, whether the key was there.
  /// - Throws: what became of this write, if it failed.
  func perform(_ write: SingleWrite, _ commit: Commit) throws -> Bool {
    let isIdle = state.withLock { state in
      if state.isAtWork || !state.singles.isEmpty { return false }
      state.isAtWork = true
      return true
    }
    if isIdle, let result = work(write, commit) { return try result.get() }
    let ticket = newTicket()
    state.withLock { $0.singles.append(Waiting(ticket: ticket, write: write, continuation: nil)) }
    while true {
      let done = state.change(once: { $0.results[ticket] != nil || !$0.isAtWork }) { state in
        let done = state.results.removeValue(forKey: ticket)
        if done == nil { state.isAtWork = true }
        return done
      }
      if let done { return try done.get() }
      _ = work(nil, commit)
    }
  }

  /// Commits what has gathered, and a write that has not had to wait; whoever calls it has said
  /// that he is at work.
  ///
  /// - Returns: what became of the write that has not waited.
  private func work(_ own: SingleWrite?, _ commit: Commit) -> Result<Bool, any Error>? {
    var taken: [Waiting] = []
    var results = commit {
      taken = state.withLock { Self.take(from: &$0, besides: own) }
      return (own.map { [$0] } ?? []) + taken.map(\.write)
    }
    let ownResult = own == nil || results.isEmpty ? nil : results.removeFirst()
    let done = zip(taken, results)
    state.change { state in
      for (waiting, result) in done where waiting.continuation == nil {
        state.results[waiting.ticket] = result
      }
      state.isAtWork = false
    }
    for (waiting, result) in done { waiting.continuation?.resume(with: result) }
    return ownResult
  }

  /// The single writes up to the first of a key that comes again: each has to be seen by observers.
  private static func take(from state: inout State, besides own: SingleWrite?) -> [Waiting] {
    if state.singles.isEmpty { return [] }
    var count = min(state.singles.count, mostAtOnce)
    if count > 1 || own != nil {
      var keys = Set(own.map { [TableKey($0)] } ?? [])
      count =
        state.singles.prefix(count).firstIndex { !keys.insert(TableKey($0.write)).inserted }
        ?? count
    }
    let taken = Array(state.singles.prefix(count))
    state.singles.removeFirst(count)
    state.taskCount -= taken.count { $0.continuation != nil }
    return taken
  }

  private struct TableKey: Hashable {
    let table: ObjectIdentifier
    let key: [UInt8]

    init(_ write: SingleWrite) {
      (table, key) = (ObjectIdentifier(write.table.state), Array(write.key.utf8))
    }
  }

  // MARK: Tasks

  /// A number by which what waits is found again.
  func newTicket() -> Int {
    state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
  }

  /// Queues a task's write.
  func append(_ write: SingleWrite, _ ticket: Int, _ continuation: Continuation) {
    state.change { state in
      state.singles.append(Waiting(ticket: ticket, write: write, continuation: continuation))
      state.taskCount += 1
    }
  }

  /// Queues a task's batch.
  func append(_ batch: Batch) { state.change { $0.batches.append(batch) } }

  /// Takes back what has not begun, and tells its task so.
  func cancel(_ ticket: Int) {
    let cancelled = state.withLock { state -> (Continuation?, Batch?) in
      if let index = state.batches.firstIndex(where: { $0.ticket == ticket }) {
        return (nil, state.batches.remove(at: index))
      }
      guard let index = state.singles.firstIndex(where: { $0.ticket == ticket }) else {
        return (nil, nil)
      }
      state.taskCount -= 1
      return (state.singles.remove(at: index).continuation, nil)
    }
    cancelled.0?.resume(throwing: CancellationError())
    cancelled.1?.cancel()
  }

  /// Something to do for tasks.
  enum Work: Sendable {
    /// The single writes that wait, by ``work(_:)``.
    case singles(KeyValueStore)
    case batch(Batch)
  }

  /// Waits for something to do; nil once the queue is closed.
  func next() -> Work? {
    state.change(
      once: { $0.isClosed || !$0.batches.isEmpty || $0.taskCount > 0 && !$0.isAtWork }
    ) { state in
      if let first = state.singles.first, state.taskCount > 0, !state.isAtWork,
        !state.isBatchNext || state.batches.isEmpty
      {
        state.isAtWork = true
        state.isBatchNext = true
        return .singles(first.write.table.store)
      }
      state.isBatchNext = false
      return state.batches.isEmpty ? nil : .batch(state.batches.removeFirst())
    }
  }

  /// Does the single writes that ``next()`` has given.
  func work(_ commit: Commit) { _ = work(nil, commit) }

  /// Lets nobody wait for work any longer.
  func close() { state.change { $0.isClosed = true } }
}
