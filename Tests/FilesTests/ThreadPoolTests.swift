import Foundation
import Locks
import TestFiles
import Testing

@Suite("The threads of the process for work that may wait")
struct ThreadPoolTests {
  @Test("Work of a queue runs in order and one by one", .hangLimit)
  func order() {
    let (pool, order) = (ThreadPool(), SharedLock<[Int]>([]))
    let queues = (0..<8).map { _ in WorkQueue(pool) }
    for number in 0..<2000 {
      queues[number % 8].run { order.change { $0.append(number) } }
    }
    order.change(once: { $0.count == 2000 }) { order in
      for queue in 0..<8 {
        let own = order.filter { $0 % 8 == queue }
        #expect(own == Array(stride(from: queue, to: 2000, by: 8)))
      }
    }
  }

  @Test("Work that arrives while other work runs stays on its thread", .hangLimit)
  func burst() {
    let (queue, threads) = (WorkQueue(ThreadPool()), SharedLock<[UInt]>([]))
    queue.run {
      for _ in 0..<100 {
        queue.run { threads.change { $0.append(ThreadIdentity.current) } }
        usleep(10)
      }
    }
    threads.change(once: { $0.count == 100 }) { #expect(Set($0).count == 1) }
  }

  @Test("Queues that have work one after the other share a thread", .hangLimit)
  func sharing() {
    let (pool, threads) = (ThreadPool(), SharedLock<[UInt]>([]))
    let queues = (0..<100).map { _ in WorkQueue(pool) }
    for (index, queue) in queues.enumerated() {
      queue.run { threads.change { $0.append(ThreadIdentity.current) } }
      threads.change(once: { $0.count == index + 1 }) { _ in }
      while pool.busyCount > 0 { pause() }
    }
    #expect(pool.threadCount == 1)
    #expect(Set(threads.withLock { $0 }).count == 1)
  }

  @Test("As much work as wanted can wait, and idle threads end but for one", .hangLimit)
  func waiting() {
    let (pool, arrived) = (ThreadPool(), SharedLock(0))
    for _ in 0..<100 {
      #expect(
        pool.run {
          arrived.change { $0 += 1 }
          arrived.change(once: { $0 >= 100 }) { _ in }
        })
    }
    arrived.change(once: { $0 == 100 }) { _ in }
    while pool.threadCount > 1 { pause() }
    // The last one still takes work.
    #expect(pool.run { arrived.change { $0 += 1 } })
    arrived.change(once: { $0 == 101 }) { _ in }
    #expect(pool.threadCount == 1)
  }

  @Test("A queue lets go of its work and its thread before it waits", .hangLimit)
  func release() {
    final class Held: Sendable {}
    let pool = ThreadPool()
    let queue = WorkQueue(pool)
    weak var held: Held?
    do {
      let new = Held()
      held = new
      queue.run { withExtendedLifetime(new) {} }
    }
    while pool.busyCount > 0 { pause() }
    #expect(held == nil)
  }

  @Test("A wait for a limited time ends with the time or with the condition", .hangLimit)
  func limited() {
    let value = Locked(0)
    #expect(value.change(once: { $0 > 0 }, within: .milliseconds(1), { $0 }) == nil)
    #expect(value.change(once: { $0 == 0 }, within: .zero, { $0 }) == 0)
    let shared = SharedLock(false)
    let thread = JoinedThread { shared.change { $0 = true } }
    shared.change(once: { $0 }) { _ in }
    withExtendedLifetime(thread) {}
  }

  private func pause() { usleep(1000) }
}
