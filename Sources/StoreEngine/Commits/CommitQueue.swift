import Locks

/// A commit on its way to the disk; a class, because it is passed on often.
package final class QueuedCommit: Sendable {
  /// The changes as passed by the caller.
  let changes: ChangeSet
  /// The changes as written to the files; kept, because each copy changes reference counts.
  let stored: ChangeSet
  /// The sealed changes; nil if they are not sealed.
  let sealed: ChangeSet?
  let request: CommitRequest
  /// The commit, which gets its number later.
  let commit: Commit
  /// The encoded index of the change set in the log, without the number; nil for a large commit,
  /// which may never be written to the log.
  let encoded: [UInt8]?

  init(
    _ changes: ChangeSet, sealed: ChangeSet?, _ request: CommitRequest, _ commit: Commit,
    encoded: [UInt8]?
  ) {
    (self.changes, self.sealed, self.encoded) = (changes, sealed, encoded)
    (self.request, self.commit) = (request, commit)
    stored = sealed ?? changes
  }
}

package typealias CommitOutcome = Result<Commit, StoreError>

/// A writer of commits in their order.
package protocol CommitWriting<Queued>: AnyObject, Sendable {
  associatedtype Queued: Sendable

  /// Writes one commit.
  func write(_ commit: Queued) throws(StoreError) -> Commit

  /// Writes commits with as few syncs as possible.
  ///
  /// - Parameters:
  ///   - commits: The commits.
  ///   - willWait: Called before this thread waits for the disk or a server, when others can use
  ///     the processor.
  /// - Returns: The result of each commit.
  func write(_ commits: [Queued], _ willWait: () -> Void) -> [CommitOutcome]

  /// Begins to write commits, and returns without waiting, if the writer can do so.
  ///
  /// - Parameters:
  ///   - commits: The commits.
  ///   - mayConnect: Whether this thread may wait until it can begin.
  ///   - completion: Called once with the result of each commit, on a thread that may wait.
  /// - Returns: Whether it has begun; otherwise nothing has happened.
  func beginToWrite(
    _ commits: [Queued], mayConnect: Bool,
    _ completion: @escaping @Sendable ([CommitOutcome]) -> Void
  ) -> Bool
}

extension CommitWriting {
  package func beginToWrite(
    _ commits: [Queued], mayConnect: Bool,
    _ completion: @escaping @Sendable ([CommitOutcome]) -> Void
  ) -> Bool { false }
}

/// A queue that lets commits of several threads reach the disk, or a server, together.
///
/// A thread that finds no writer at work writes its own commit. While it waits for the disk, other
/// commits gather. A thread of the process's pool then writes all of them together, and repeats that
/// until no commits are left. Waiting threads are notified one by one, just before the writer waits
/// for the disk itself: notified earlier, they would take the processor from it.
///
/// A writer that waits for a server may need no thread for that, see
/// ``CommitWriting/beginToWrite(_:mayConnect:_:)``. The queue then goes on when the server has
/// answered. It does so if a commit waits without a thread; threads that wait need one more anyway.
///
/// The type of commits has no requirements that the runtime would have to check, which would cost
/// each opening of a store 40 us.
package final class CommitQueue<Queued: Sendable>: Sendable {
  private let state = Locked(State())

  private struct State {
    var waiting: [Waiting] = []
    var isAtWork = false
  }

  /// A commit that waits to be written.
  private final class Waiting: Sendable {
    typealias Completion = @Sendable (CommitOutcome) -> Void

    let commit: Queued
    let byteCount: Int
    /// The completion; nil if a thread waits.
    private let completion: Completion?
    var holdsThread: Bool { completion == nil }
    private let progress = Locked(Progress())

    private struct Progress {
      var outcome: CommitOutcome?
      /// Whether the thread that queues the commit has ended its turn.
      var isQueued = false
    }

    init(_ commit: Queued, _ byteCount: Int, _ completion: Completion? = nil) {
      (self.commit, self.byteCount, self.completion) = (commit, byteCount, completion)
    }

    func tell(_ outcome: CommitOutcome) {
      let isQueued = progress.change { progress in
        progress.outcome = outcome
        return progress.isQueued
      }
      if isQueued { completion?(outcome) }
    }

    /// Lets the completion be called: only the thread that has taken a turn may end it.
    func didQueue() {
      let outcome = progress.withLock { progress in
        progress.isQueued = true
        return progress.outcome
      }
      if let outcome { completion?(outcome) }
    }

    func wait() -> CommitOutcome {
      progress.change(once: { $0.outcome != nil }) {
        $0.outcome ?? .failure(StoreError(.closed, "The log is closed."))
      }
    }
  }

  /// The maximum number of commits that are written together, and of their bytes.
  private static var mostCommits: Int { 256 }
  private static var mostBytes: Int { 4 << 20 }

  /// Creates an empty queue.
  package init() {}

  /// The number of commits that wait to be written.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Performs a commit, and returns when it is as durable as the backend makes it.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - byteCount: The size of its changes.
  ///   - follower: The object that follows it; nil if there is none.
  ///   - writer: The backend.
  /// - Returns: The commit with its number.
  /// - Throws: ``StoreError`` of the writer.
  package func perform(
    _ commit: Queued, _ byteCount: Int, _ follower: (any CommitFollower)?,
    by writer: any CommitWriting<Queued>
  ) throws(StoreError) -> Commit {
    let waiting = state.withLock { state -> Waiting? in
      guard state.isAtWork else {
        state.isAtWork = true
        return nil
      }
      let waiting = Waiting(commit, byteCount)
      state.waiting.append(waiting)
      return waiting
    }
    follower?.didQueue()
    if let waiting { return try waiting.wait().get() }
    defer { if !isDone() { handOver(to: writer) } }
    return try writeAlone(commit, follower, by: writer)
  }

  /// Queues a commit, see ``CommitQueueing``.
  package func enqueue(
    _ commit: Queued, _ byteCount: Int, _ follower: (any CommitFollower)?,
    by writer: any CommitWriting<Queued>, mayWait: Bool,
    _ completion: @escaping @Sendable (CommitOutcome) -> Void
  ) {
    var waiting: Waiting?
    let isIdle = state.withLock { state in
      defer { state.isAtWork = true }
      if state.isAtWork || !mayWait {
        let new = Waiting(commit, byteCount, completion)
        state.waiting.append(new)
        waiting = new
      }
      return !state.isAtWork
    }
    follower?.didQueue()
    waiting?.didQueue()
    guard isIdle else { return }
    let outcome =
      mayWait
      ? Result { () throws(StoreError) in try writeAlone(commit, follower, by: writer) } : nil
    if !isDone() { handOver(to: writer, mayBegin: !mayWait) }
    if let outcome { completion(outcome) }
  }

  private func writeAlone(
    _ commit: Queued, _ follower: (any CommitFollower)?, by writer: any CommitWriting<Queued>
  ) throws(StoreError) -> Commit {
    do {
      return try writer.write(commit)
    } catch {
      follower?.didFail(error)
      throw error
    }
  }

  /// Whether no commit waits; if so, the next commit finds no writer at work.
  private func isDone() -> Bool {
    state.withLock { state in
      if state.waiting.isEmpty { state.isAtWork = false }
      return state.waiting.isEmpty
    }
  }

  /// Lets other threads write the queued commits.
  ///
  /// - Parameters:
  ///   - writer: The backend.
  ///   - mayBegin: Whether this thread begins to write, if that takes no waiting.
  private func handOver(to writer: any CommitWriting<Queued>, mayBegin: Bool = false) {
    let first = mayBegin ? state.withLock { Self.take(from: &$0) } : []
    if begin(first, by: writer, mayConnect: false) { return }
    // If the system has no thread left, the committing thread writes for the others. It must not
    // wait for a thread, since all of them may wait for these commits.
    let isHandedOver = ThreadPool.shared.run { [self] in writeAll(by: writer, first) }
    if !isHandedOver { writeAll(by: writer, first) }
  }

  /// Begins to write commits without a thread, and writes the others after them.
  private func begin(
    _ taken: [Waiting], by writer: any CommitWriting<Queued>, mayConnect: Bool
  ) -> Bool {
    if taken.allSatisfy(\.holdsThread) { return false }
    return writer.beginToWrite(taken.map(\.commit), mayConnect: mayConnect) { [self] outcomes in
      assert(outcomes.count == taken.count, "a commit without an outcome")
      writeAll(by: writer, finished: Array(zip(taken, outcomes)))
    }
  }

  /// Writes the queued commits until none is left.
  ///
  /// - Parameters:
  ///   - writer: The backend.
  ///   - first: Commits that were taken out of the queue before.
  ///   - finished: Commits that are written, whose writers don't know it.
  private func writeAll(
    by writer: any CommitWriting<Queued>, _ first: [Waiting] = [],
    finished: [(Waiting, CommitOutcome)] = []
  ) {
    var (first, finished) = (first, finished)
    func tell() {
      for (waiting, outcome) in finished { waiting.tell(outcome) }
      finished = []
    }
    while true {
      let taken = first.isEmpty ? state.withLock { Self.take(from: &$0) } : first
      if taken.isEmpty {
        tell()
        if isDone() { return }
        continue
      }
      first = []
      let hasBegun = begin(taken, by: writer, mayConnect: false)
      tell()
      if hasBegun || begin(taken, by: writer, mayConnect: true) { return }
      let outcomes = writer.write(taken.map(\.commit)) { tell() }
      assert(outcomes.count == taken.count, "a commit without an outcome")
      tell()
      finished = Array(zip(taken, outcomes))
    }
  }

  private static func take(from state: inout State) -> [Waiting] {
    if state.waiting.isEmpty { return [] }
    var (count, bytes) = (0, 0)
    while count < min(state.waiting.count, mostCommits), bytes < mostBytes {
      bytes += state.waiting[count].byteCount
      count += 1
    }
    let taken = Array(state.waiting.prefix(count))
    state.waiting.removeFirst(count)
    return taken
  }
}

extension [CommitOutcome] {
  /// Whether the commits have numbers in the order in which they were queued.
  var areInOrder: Bool {
    let numbers = compactMap { try? $0.get().number }
    return zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
  }
}
