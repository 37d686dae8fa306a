import Locks
import StoredObjectsCore
import TestFiles
import Testing

/// An actor that takes threads of a pool.
private actor Worker {
  private let executor: ThreadExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }
  private var count = 0
  private let onEnd: @Sendable () -> Void

  init(_ pool: ThreadPool? = nil, onEnd: @escaping @Sendable () -> Void = {}) {
    executor = pool.map { ThreadExecutor($0) } ?? ThreadExecutor()
    self.onEnd = onEnd
  }

  deinit { onEnd() }

  func call() { count += 1 }

  func calls() -> Int { count }

  /// Blocks its thread until so many have come here.
  func meet(_ arrived: SharedLock<Int>, _ count: Int) {
    arrived.change { $0 += 1 }
    arrived.change(once: { $0 >= count }) { _ in }
  }
}

@Suite("An actor on a thread outside of Swift's pool")
struct ThreadExecutorTests {
  @Test("Actors without jobs hold no thread", .hangLimit)
  func idle() async {
    let pool = ThreadPool()
    let workers = (0..<200).map { _ in Worker(pool) }
    await withTaskGroup(of: Void.self) { group in
      for worker in workers { group.addTask { await worker.call() } }
    }
    for worker in workers { #expect(await worker.calls() == 1) }
    while pool.busyCount > 0 || pool.threadCount > 1 {
      try? await Task.sleep(for: .milliseconds(20))
    }
    #expect(pool.threadCount == 1)
  }

  @Test("Calls from many tasks run one by one, and all of them run")
  func calls() async {
    let worker = Worker()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<500 { group.addTask { await worker.call() } }
    }
    #expect(await worker.calls() == 500)
  }

  @Test("More actors than cores can wait", .hangLimit)
  func waiting() async {
    let arrived = SharedLock(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<64 { group.addTask { await Worker().meet(arrived, 64) } }
    }
    #expect(arrived.withLock { $0 } == 64)
  }

  @Test("It ends with its last work, on whatever thread")
  func end() async {
    let ended = SharedLock(0)
    for _ in 0..<50 {
      let worker = Worker { ended.withLock { $0 += 1 } }
      await worker.call()
    }
    for _ in 0..<1000 where ended.withLock({ $0 }) < 50 { await Task.yield() }
    #expect(ended.withLock { $0 } == 50)
  }
}
