import Synchronization

/// The threads of the process for work that may wait for a disk, a server or a lock.
///
/// Their number is not limited by the number of cores, because work may block. An idle thread takes
/// the next work, the one that was used last first. A thread that stays idle ends after a second,
/// except for the last one.
package final class ThreadPool: Sendable {
  package typealias Work = @Sendable () -> Void

  private static let pools = ProcessLocal { ThreadPool() }
  /// The pool of this process.
  package static var shared: ThreadPool { pools.current }

  private static let idleTime = Duration.seconds(1)

  private let state = Locked(State())
  /// Whether there is a thread; from then on, there always is one.
  private let hasThread = Atomic(false)

  private struct State {
    /// The idle threads; the one that was used last comes last.
    var idle: [PooledThread] = []
    var threadCount = 0
    /// Work that waits for a thread, because the system had none left.
    var waiting: [Work] = []
  }

  /// Creates a pool without threads.
  package init() {}

  /// The number of threads, including idle ones.
  package var threadCount: Int { state.withLock { $0.threadCount } }
  /// The number of threads that have work.
  package var busyCount: Int { state.withLock { $0.threadCount - $0.idle.count } }

  /// Runs a closure on an idle thread, or on a new one.
  ///
  /// - Returns: false if the system has no thread left; the closure doesn't run then.
  package func run(_ work: @escaping Work) -> Bool {
    if let thread = state.withLock({ $0.idle.popLast() }) {
      thread.give(work)
      return true
    }
    return begin(work)
  }

  /// Runs a closure like ``run(_:)``, or when one of the threads is done.
  ///
  /// Use it for work that no other work waits for, after ``start()`` has returned true.
  package func runEventually(_ work: @escaping Work) {
    if run(work) { return }
    let thread = state.withLock { state in
      let idle = state.idle.popLast()
      if idle == nil { state.waiting.append(work) }
      return idle
    }
    thread?.give(work)
  }

  /// Makes sure that there is a thread from now on; returns false if the system has none left.
  package func start() -> Bool { hasThread.load(ordering: .relaxed) || begin(nil) }

  /// Starts a thread, which is idle without work.
  private func begin(_ work: Work?) -> Bool {
    let thread = PooledThread(work)
    // Counted first, because the thread may end before this continues.
    state.withLock { $0.threadCount += 1 }
    guard let started = JoinedThread({ [self] in serve(thread) }) else {
      state.withLock { $0.threadCount -= 1 }
      return false
    }
    started.detach()
    if work == nil { state.withLock { $0.idle.append(thread) } }
    hasThread.store(true, ordering: .relaxed)
    return true
  }

  // MARK: On a thread

  /// Runs the work of a thread, until it ends.
  private func serve(_ thread: PooledThread) {
    let isTemporary = ThreadPriority.isLowered
    var work = thread.take()
    while let next = work {
      next()
      // Releases what the closure holds before the thread waits.
      work = nil
      work = nextWork(for: thread, isTemporary)
    }
  }

  /// Waits for work; returns nil if the thread ends.
  private func nextWork(for thread: PooledThread, _ isTemporary: Bool) -> Work? {
    let (work, ends) = state.withLock { state -> (Work?, ends: Bool) in
      if !state.waiting.isEmpty { return (state.waiting.removeFirst(), false) }
      // A thread that a thread of low priority has started has that priority, too.
      if isTemporary, state.threadCount > 1 {
        state.threadCount -= 1
        return (nil, true)
      }
      state.idle.append(thread)
      return (nil, false)
    }
    if work != nil || ends { return work }
    return thread.take(within: Self.idleTime) ?? (end(thread) ? nil : thread.take())
  }

  /// Removes an idle thread; returns false if it was just given work, or is the last one.
  private func end(_ thread: PooledThread) -> Bool {
    state.withLock { state in
      guard state.threadCount > 1, let place = state.idle.firstIndex(where: { $0 === thread })
      else { return false }
      state.idle.remove(at: place)
      state.threadCount -= 1
      return true
    }
  }

  /// A thread that can be given work while it is idle.
  private final class PooledThread: Sendable {
    private let work: Locked<Work?>

    init(_ work: Work?) { self.work = Locked(work) }

    func give(_ work: @escaping Work) { self.work.change { $0 = work } }

    /// Waits for work.
    func take() -> Work? { work.change(once: { $0 != nil }, Self.takeWork) }

    /// Waits for work, for a limited time.
    func take(within limit: Duration) -> Work? {
      work.change(once: { $0 != nil }, within: limit, Self.takeWork) ?? nil
    }

    private static func takeWork(_ work: inout Work?) -> Work? {
      defer { work = nil }
      return work
    }
  }
}
