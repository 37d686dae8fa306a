import Locks

/// A commit on its way; a class, because it is handed on often.
final class QueuedCommit: Sendable {
  /// As it was given.
  let changes: ChangeSet
  /// As the files get it.
  var stored: ChangeSet { sealed ?? changes }
  /// Nil where that is no other one.
  let sealed: ChangeSet?
  let request: CommitRequest
  /// What it will be once it has its number.
  let commit: Commit
  /// What stands in the log before the bytes of the change set, but for the number; nil for a large
  /// one, which may never go there.
  let encoded: [UInt8]?

  init(
    _ changes: ChangeSet, sealed: ChangeSet?, _ request: CommitRequest, _ commit: Commit,
    encoded: [UInt8]?
  ) {
    (self.changes, self.sealed, self.encoded) = (changes, sealed, encoded)
    (self.request, self.commit) = (request, commit)
  }
}

typealias CommitOutcome = Result<Commit, StoreError>

/// Writes commits in their order.
protocol CommitWriting: AnyObject, Sendable {
  /// Writes one commit.
  func write(_ commit: QueuedCommit) throws(StoreError) -> Commit

  /// Writes commits, with as few syncs as can be.
  ///
  /// - Parameters:
  ///   - commits: The commits.
  ///   - willWait: Called before this thread waits for the disk, which is a good time for others.
  /// - Returns: for each commit what has become of it.
  func write(_ commits: [QueuedCommit], _ willWait: () -> Void) -> [CommitOutcome]
}

/// Lets commits that several threads make at once reach the disk together.
///
/// A thread that finds nobody at work writes its own commit. While it waits for the disk others
/// gather, and a thread of the queue's own writes all of them together, and again those that have
/// gathered meanwhile, until there are none. Whoever waits is told one by one, just before it waits
/// for the disk itself: told earlier, they would take the processor from it.
final class CommitQueue: Sendable {
  private let state = Locked(State())
  /// Writes for others; there is none until somebody waits.
  private let thread = Locked<WorkThread?>(nil)

  private struct State {
    var waiting: [Waiting] = []
    var isAtWork = false
  }

  /// A commit that waits for its turn.
  private final class Waiting: Sendable {
    typealias Completion = @Sendable (CommitOutcome) -> Void

    let commit: QueuedCommit
    /// Nil where a thread waits.
    private let completion: Completion?
    private let outcome = Locked<CommitOutcome?>(nil)

    init(_ commit: QueuedCommit, _ completion: Completion? = nil) {
      (self.commit, self.completion) = (commit, completion)
    }

    func tell(_ outcome: CommitOutcome) {
      if let completion { return completion(outcome) }
      self.outcome.change { $0 = outcome }
    }

    func wait() -> CommitOutcome {
      outcome.change(once: { $0 != nil }) {
        $0 ?? .failure(StoreError(.closed, "The log is closed."))
      }
    }
  }

  /// So many commits reach the disk together at most, and so many bytes.
  private static let (mostCommits, mostBytes) = (256, 4 << 20)

  /// How many commits wait for their turn.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Does a commit, and returns when it is as durable as the backend makes it.
  func perform(_ commit: QueuedCommit, by writer: any CommitWriting) throws(StoreError) -> Commit {
    let waiting = state.withLock { state -> Waiting? in
      guard state.isAtWork else {
        state.isAtWork = true
        return nil
      }
      let waiting = Waiting(commit)
      state.waiting.append(waiting)
      return waiting
    }
    commit.request.follower?.didQueue()
    if let waiting { return try waiting.wait().get() }
    defer { if !isDone() { handOver(to: writer) } }
    return try writeAlone(commit, by: writer)
  }

  /// Gives a commit its place, see ``CommitQueueing``.
  func enqueue(
    _ commit: QueuedCommit, by writer: any CommitWriting, mayWait: Bool,
    _ completion: @escaping @Sendable (CommitOutcome) -> Void
  ) {
    let isIdle = state.withLock { state in
      defer { state.isAtWork = true }
      if state.isAtWork || !mayWait { state.waiting.append(Waiting(commit, completion)) }
      return !state.isAtWork
    }
    commit.request.follower?.didQueue()
    guard isIdle else { return }
    let outcome =
      mayWait ? Result { () throws(StoreError) in try writeAlone(commit, by: writer) } : nil
    if !isDone() { handOver(to: writer) }
    if let outcome { completion(outcome) }
  }

  private func writeAlone(_ commit: QueuedCommit, by writer: any CommitWriting) throws(StoreError)
    -> Commit
  {
    do {
      return try writer.write(commit)
    } catch {
      commit.request.follower?.didFail(error)
      throw error
    }
  }

  /// Whether nobody waits; the next commit finds nobody at work then.
  private func isDone() -> Bool {
    state.withLock { state in
      if state.waiting.isEmpty { state.isAtWork = false }
      return state.waiting.isEmpty
    }
  }

  private func handOver(to writer: any CommitWriting) {
    let thread = thread.withLock { thread in
      if thread == nil { thread = WorkThread() }
      return thread
    }
    // Where the system has no thread left, whoever has committed does it for the others.
    guard let thread else { return writeAll(by: writer) }
    thread.run { [self] in writeAll(by: writer) }
  }

  /// Writes what has gathered, until nothing has.
  private func writeAll(by writer: any CommitWriting) {
    var finished: [(Waiting, CommitOutcome)] = []
    func tell() {
      for (waiting, outcome) in finished { waiting.tell(outcome) }
      finished = []
    }
    while true {
      let taken = state.withLock { Self.take(from: &$0) }
      if taken.isEmpty {
        tell()
        if isDone() { return }
        continue
      }
      let outcomes = writer.write(taken.map(\.commit)) { tell() }
      assert(outcomes.count == taken.count, "a commit without an outcome")
      assert(Self.areInOrder(outcomes), "commits have other numbers than their order says")
      tell()
      finished = Array(zip(taken, outcomes))
    }
  }

  /// Whether commits have the numbers in which they came.
  static func areInOrder(_ outcomes: [CommitOutcome]) -> Bool {
    let numbers = outcomes.compactMap { try? $0.get().number }
    return zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
  }

  private static func take(from state: inout State) -> [Waiting] {
    if state.waiting.isEmpty { return [] }
    var (count, bytes) = (0, 0)
    while count < min(state.waiting.count, mostCommits), bytes < mostBytes {
      bytes += state.waiting[count].commit.changes.bytes.count
      count += 1
    }
    let taken = Array(state.waiting.prefix(count))
    state.waiting.removeFirst(count)
    return taken
  }
}
