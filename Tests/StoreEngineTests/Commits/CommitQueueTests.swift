import Foundation
import Locks
import StoreEngine
import StoredObjectsTestSupport
import Testing

@Suite("The queue of commits")
struct CommitQueueTests {
  /// A writer whose first commit waits until the test lets it go on.
  private final class Writer: CommitWriting {
    let written = SharedLock<[Int]>([])
    let mayGoOn = SharedLock(false)

    func write(_ commit: Int) throws(StoreError) -> Commit {
      written.change { $0.append(commit) }
      mayGoOn.change(once: { $0 }) { _ in }
      return Commit(unnamed: UInt64(commit))
    }

    func write(_ commits: [Int], _ willWait: () -> Void) -> [CommitOutcome] {
      willWait()
      written.change { $0 += commits }
      return commits.map { .success(Commit(unnamed: UInt64($0))) }
    }
  }

  /// A follower whose thread is slow to end its turn.
  private final class SlowFollower: CommitFollower {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    func didQueue() { body() }
  }

  @Test("A commit isn't reported before the thread that queues it has ended its turn")
  func turns() throws {
    let (queue, writer) = (CommitQueue<Int>(), Writer())
    let completed = SharedLock<[CommitOutcome]>([])
    try BackendConformance.runOnThreads(2) { number in
      if number == 0 {
        let first = try queue.perform(1, 1, nil, by: writer)
        return #expect(first.number == 1)
      }
      writer.written.change(once: { $0 == [1] }) { _ in }
      let follower = SlowFollower {
        writer.mayGoOn.change { $0 = true }
        // The commit is written, and a later one, before which the writer reports the first.
        writer.written.change(once: { $0.contains(2) }) { _ in }
        Thread.sleep(forTimeInterval: 0.05)
        #expect(completed.withLock { $0.isEmpty })
      }
      queue.enqueue(2, 1, follower, by: writer, mayWait: false) { outcome in
        completed.change { $0.append(outcome) }
      }
    }
    completed.change(once: { !$0.isEmpty }) { _ in }
    let outcomes = completed.withLock(\.self)
    #expect(outcomes.count == 1)
    #expect(try outcomes[0].get().number == 2)
  }
}
