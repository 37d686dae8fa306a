/// A thread that runs closures in the order in which they come, and ends with its last owner.
package final class WorkThread: Sendable {
  private let queue: Locked<Queue>
  private let thread: JoinedThread

  private struct Queue {
    var work: [@Sendable () -> Void] = []
    var isClosed = false
  }

  /// Starts the thread; nil when the system has none left.
  package init?() {
    let queue = Locked(Queue())
    // Nothing of what is done is held while more is waited for.
    guard let thread = JoinedThread({ while Self.workOnce(queue) {} }) else { return nil }
    (self.queue, self.thread) = (queue, thread)
  }

  deinit { if thread.isHere { queue.change { $0.isClosed = true } } }

  /// Has something done behind what was given before.
  package func run(_ body: @escaping @Sendable () -> Void) {
    queue.change { $0.work.append(body) }
  }

  /// Does what there is, once there is something; false when there never will be.
  private static func workOnce(_ queue: Locked<Queue>) -> Bool {
    let work = queue.change(once: { $0.isClosed || !$0.work.isEmpty }) { queue in
      defer { queue.work = [] }
      return queue.work
    }
    for body in work { body() }
    return !work.isEmpty
  }
}
