import Locks
import StoreEngine

/// The writes of tasks that have not begun.
///
/// A thread of the store's own works them out, because that may have to wait for others. It takes
/// all that have gathered, in their order, and again when these are done: while they are brought to
/// the disk, puts and deletes of single keys gather, which then become one commit. Whole batches
/// are a commit each, and share a sync.
///
/// The thread is started by the first task that writes, and ends with the store.
final class TaskWrites: Sendable {
  private let state = Locked(State())
  private let thread = Locked<WorkThread?>(nil)

  private struct State {
    var waiting: [Waiting] = []
    var lastTicket = 0
    /// How many of the commits that were taken last have not come to their end.
    var underWayCount = 0
    /// Whether some are taken, or are about to be.
    var isAtWork = false
  }

  /// A write with its task.
  struct Waiting: Sendable {
    let ticket: Int
    let write: Write
    /// Whether its commit is to have no other write in it.
    var isAlone = false

    /// The write, if it is of one key.
    var single: SingleWrite? { if case .single(let write, _) = write { write } else { nil } }
  }

  enum Write: Sendable {
    case single(SingleWrite, CheckedContinuation<Result<Bool, StoreError>, Never>)
    case batch(Batch)
  }

  /// A write that is a commit of its own.
  struct Batch: Sendable {
    typealias Completion = @Sendable () -> Void
    /// Works it out, and says when it is done, and its task knows.
    let run: @Sendable (_ mayWait: Bool, _ completion: @escaping Completion) -> Void
    let cancel: @Sendable () -> Void
  }

  /// So many writes, and commits, are taken at once at most.
  private static let (mostWrites, mostCommits) = (1024, 128)

  /// How many writes have not begun.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Starts the thread if it is not running; false when the system has none left.
  func start() -> Bool {
    thread.withLock { thread in
      if thread == nil { thread = WorkThread() }
      return thread != nil
    }
  }

  /// A number by which a write is found again.
  func newTicket() -> Int {
    state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
  }

  /// Has the thread do a write of a store.
  func append(_ waiting: Waiting, of store: KeyValueStore) {
    let isIdle = state.withLock { state in
      defer { state.isAtWork = true }
      state.waiting.append(waiting)
      return !state.isAtWork
    }
    if isIdle { takeLater(of: store) }
  }

  /// Takes back what has not begun, and tells its task so.
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
    thread.withLock { $0?.run { [self] in takeAll(of: store) } }
  }

  private func takeAll(of store: KeyValueStore) {
    let commits = state.withLock { state in
      let commits = Self.take(from: &state.waiting)
      state.underWayCount = commits.count
      state.isAtWork = !commits.isEmpty
      return commits
    }
    for (index, writes) in commits.enumerated() {
      // The last one has nothing to keep waiting.
      let mayWait = index == commits.count - 1
      if case .batch(let batch) = writes[0].write {
        batch.run(mayWait) { [self] in didEnd(of: store) }
      } else {
        perform(writes, of: store, mayWait)
      }
    }
  }

  /// Another one of the commits that were taken is done.
  private func didEnd(of store: KeyValueStore) {
    let isNext = state.withLock { state in
      state.underWayCount -= 1
      if state.underWayCount > 0 { return false }
      state.isAtWork = !state.waiting.isEmpty
      return state.isAtWork
    }
    if isNext { takeLater(of: store) }
  }

  /// The writes of each commit: a batch, or single writes up to the first of a key that comes
  /// again, since each has to be seen by observers.
  private static func take(from waiting: inout [Waiting]) -> [[Waiting]] {
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

  /// Whether a write can be in the commit of others.
  private static func join(
    _ one: Waiting, to others: [Waiting], _ keys: inout Set<SingleWrite.TableKey>
  ) -> Bool {
    guard let write = one.single, others[0].single != nil, !one.isAlone, !others[0].isAlone
    else { return false }
    return keys.insert(.init(write)).inserted
  }

  /// Does single writes, in one commit.
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

  /// Has each write done by itself, so that one that can't be done takes no others with it.
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

  /// Whether others may go through where a write has failed.
  private static func isOfOneWrite(_ error: StoreError) -> Bool {
    ![.reopenNeeded, .closed, .readOnly].contains(error.code)
  }
}
