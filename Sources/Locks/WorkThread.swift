/// A thread that runs closures in order of arrival, and ends with its last owner.
package final class WorkThread: Sendable {
  private let queue: SharedLock<Queue>
  private let thread: JoinedThread

  private struct Queue {
    var work: [@Sendable () -> Void] = []
    var isClosed = false
  }

  /// Starts the thread; nil if the system has none left.
  package init?() {
    let queue = SharedLock(Queue())
    // The closure releases finished work before it waits for more.
    guard let thread = JoinedThread({ while Self.workOnce(queue) {} }) else { return nil }
    (self.queue, self.thread) = (queue, thread)
  }

  deinit { if thread.isHere { queue.change { $0.isClosed = true } } }

  /// Adds a closure, which runs after those added before.
  package func run(_ body: @escaping @Sendable () -> Void) {
    queue.change { $0.work.append(body) }
  }

  /// Waits for work and runs it; returns false if the queue is closed and empty.
  private static func workOnce(_ queue: SharedLock<Queue>) -> Bool {
    let work = queue.change(once: { $0.isClosed || !$0.work.isEmpty }) { queue in
      defer { queue.work = [] }
      return queue.work
    }
    for body in work { body() }
    return !work.isEmpty
  }
}
