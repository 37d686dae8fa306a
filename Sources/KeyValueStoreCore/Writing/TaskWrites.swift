import Locks
import StoreEngine

/// The writes of tasks that have not begun.
///
/// A thread of the process's pool prepares them, because that may have to wait for other writes. It
/// takes all collected writes in order, and again when these are done. While they are on their way
/// to the disk, puts and deletes of single keys collect and become one commit. Each batch is a
/// commit of its own, and batches share a sync.
///
/// The store holds the thread only while there are such writes.
final class TaskWrites: Sendable {
  private let state = Locked(State())
  private let queue = WorkQueue()

  private struct State {
    var waiting: [Waiting] = []
    var lastTicket = 0
    /// The number of commits in the last group that have not ended.
    var underWayCount = 0
    /// Whether writes are being processed, or are about to be.
    var isAtWork = false
  }

  /// A write with its task.
  struct Waiting: Sendable {
    let ticket: Int
    let write: Write
    /// Whether the commit of the write must contain no other write.
    var isAlone = false

    /// The write, if it is of one key.
    var single: SingleWrite? { if case .single(let write, _) = write { write } else { nil } }
  }

  enum Write: Sendable {
    case single(SingleWrite, CheckedContinuation<Result<Bool, StoreError>, Never>)
    case batch(Batch)
  }

  /// A write that needs a commit of its own.
  struct Batch: Sendable {
    typealias Completion = @Sendable () -> Void
    /// Prepares the write, and calls the completion when it is done and the task is resumed.
    let run: @Sendable (_ mayWait: Bool, _ completion: @escaping Completion) -> Void
    let cancel: @Sendable () -> Void
  }

  /// The maximum number of writes in a group.
  private static let mostWrites = 1024

  /// The number of writes that have not begun.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Makes sure that there is a thread for the writes; returns false if the system has none left.
  func start() -> Bool { queue.start() }

  /// Returns a number that identifies a write.
  func newTicket() -> Int {
    state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
  }

  /// Adds a write of a store, which the thread then performs.
  func append(_ waiting: Waiting, of store: KeyValueStore) {
    let isIdle = state.withLock { state in
      defer { state.isAtWork = true }
      state.waiting.append(waiting)
      return !state.isAtWork
    }
    if isIdle { takeLater(of: store) }
  }

  /// Removes a write that has not begun, and reports that to its task.
  func cancel(_ ticket: Int) {
    let cancelled = state.withLock { state in
      state.waiting.firstIndex { $0.ticket == ticket }.map { state.waiting.remove(at: $0) }
    }
    switch cancelled?.write {
    case .single(_, let continuation): continuation.resume(returning: .failure(.cancelled))
    case .batch(let batch): batch.cancel()
    case nil: break
    }
  }

  // MARK: On the thread

  private func takeLater(of store: KeyValueStore) {
    queue.run { [self] in takeAll(of: store) }
  }

  private func takeAll(of store: KeyValueStore) {
    let commits = state.withLock { state in
      let commits = Self.take(from: &state.waiting, atMost: store.mostTaskCommits)
      state.underWayCount = commits.count
      state.isAtWork = !commits.isEmpty
      return commits
    }
    for (index, writes) in commits.enumerated() {
      // Nothing waits behind the last commit.
      let mayWait = index == commits.count - 1
      if case .batch(let batch) = writes[0].write {
        batch.run(mayWait) { [self] in didEnd(of: store) }
      } else {
        perform(writes, of: store, mayWait)
      }
    }
  }

  /// Counts a commit of the group that has ended.
  private func didEnd(of store: KeyValueStore) {
    let isNext = state.withLock { state in
      state.underWayCount -= 1
      if state.underWayCount > 0 { return false }
      state.isAtWork = !state.waiting.isEmpty
      return state.isAtWork
    }
    if isNext { takeLater(of: store) }
  }

  /// Returns the writes of each commit: a batch, or a number of single writes.
  ///
  /// A commit ends before a write to a key that it already contains, since observers must see each
  /// write.
  private static func take(
    from waiting: inout [Waiting], atMost mostCommits: Int
  ) -> [[Waiting]] {
    var commits: [[Waiting]] = []
    var keys = Set<SingleWrite.TableKey>()
    var count = 0
    for one in waiting.prefix(mostWrites) {
      if commits.last.map({ !join(one, to: $0, &keys) }) ?? true {
        if commits.count == mostCommits { break }
        commits.append([])
        keys = []
        if let write = one.single { keys.insert(.init(write)) }
      }
      commits[commits.count - 1].append(one)
      count += 1
    }
    waiting.removeFirst(count)
    return commits
  }

  /// Returns whether a write can join the commit of others.
  private static func join(
    _ one: Waiting, to others: [Waiting], _ keys: inout Set<SingleWrite.TableKey>
  ) -> Bool {
    guard let write = one.single, others[0].single != nil, !one.isAlone, !others[0].isAlone
    else { return false }
    return keys.insert(.init(write)).inserted
  }

  /// Performs single writes in one commit.
  private func perform(_ writes: [Waiting], of store: KeyValueStore, _ mayWait: Bool) {
    store.enqueue(mayWait: mayWait) { batch in
      writes.compactMap(\.single).map { write in
        Result { () throws(StoreError) in try write.apply(to: &batch) }
      }
    } _: { [self] outcome in
      switch outcome {
      case .success(.success(let results)): Self.tell(writes, results)
      case .failure(let error): retry(writes, error)
      }
      didEnd(of: store)
    }
  }

  private static func tell(_ writes: [Waiting], _ results: [Result<Bool, StoreError>]) {
    for (one, result) in zip(writes, results) {
      if case .single(_, let continuation) = one.write { continuation.resume(returning: result) }
    }
  }

  /// Performs each write in a commit of its own, so that one failure does not affect the others.
  private func retry(_ writes: [Waiting], _ error: StoreError) {
    guard error.causeOfOutdated != nil || writes.count > 1 && Self.isOfOneWrite(error) else {
      return Self.tell(writes, writes.map { _ in .failure(error) })
    }
    let alone = writes.map { one in
      var one = one
      one.isAlone = true
      return one
    }
    state.withLock { $0.waiting.insert(contentsOf: alone, at: 0) }
  }

  /// Returns whether other writes may succeed after an error.
  private static func isOfOneWrite(_ error: StoreError) -> Bool {
    ![.reopenNeeded, .closed, .readOnly].contains(error.code)
  }
}

extension KeyValueStore {
  /// The maximum number of commits of tasks in a group.
  ///
  /// On a server, a write is prepared after the commit before it has ended, and would hold a thread
  /// until then.
  fileprivate var mostTaskCommits: Int { awaiting == nil ? 128 : 1 }
}
