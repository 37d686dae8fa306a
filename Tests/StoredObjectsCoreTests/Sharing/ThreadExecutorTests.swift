import Locks
import StoredObjectsCore
import TestFiles
import Testing

/// An actor with a thread of its own.
private actor Worker {
  private let executor = ThreadExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }
  private var count = 0
  private let onEnd: @Sendable () -> Void

  init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }

  deinit { onEnd() }

  func thread() -> UInt {
    count += 1
    return ThreadIdentity.current
  }

  func calls() -> Int { count }

  /// Blocks its thread until so many have come here.
  func meet(_ arrived: SharedLock<Int>, _ count: Int) {
    arrived.change { $0 += 1 }
    arrived.change(once: { $0 >= count }) { _ in }
  }
}

@Suite("An actor with a thread of its own")
struct ThreadExecutorTests {
  @Test("It runs on one thread, and every other actor on another")
  func threads() async {
    let workers = (0..<4).map { _ in Worker() }
    var threads: Set<UInt> = []
    for worker in workers {
      let first = await worker.thread()
      for _ in 0..<20 { #expect(await worker.thread() == first) }
      threads.insert(first)
    }
    #expect(threads.count == 4)
  }

  @Test("Calls from many tasks run one by one, and all of them run")
  func calls() async {
    let worker = Worker()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<500 { group.addTask { _ = await worker.thread() } }
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
      _ = await worker.thread()
    }
    for _ in 0..<1000 where ended.withLock({ $0 }) < 50 { await Task.yield() }
    #expect(ended.withLock { $0 } == 50)
  }
}
