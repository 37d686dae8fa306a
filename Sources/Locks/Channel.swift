/// A short queue from one thread to another.
package final class Channel<Value: Sendable>: Sendable {
  private let capacity: Int
  private let queue = Locked(Queue())

  private struct Queue {
    var values: [Value] = []
    var isClosed = false
  }

  /// Creates a queue of at most `capacity` values.
  package init(capacity: Int) { self.capacity = capacity }

  /// Whether taking a value would have to wait at this moment.
  package var isEmpty: Bool { queue.withLock { $0.values.isEmpty } }

  /// Appends a value, and waits for room; returns false if the queue is closed.
  package func put(_ value: Value) -> Bool {
    queue.change(once: { $0.values.count < capacity || $0.isClosed }) { queue in
      if !queue.isClosed { queue.values.append(value) }
      return !queue.isClosed
    }
  }

  /// Removes and returns the first value, and waits for it; nil if the queue is empty and closed.
  package func take() -> Value? {
    queue.change(once: { !$0.values.isEmpty || $0.isClosed }) { queue in
      queue.values.isEmpty ? nil : queue.values.removeFirst()
    }
  }

  /// Closes the queue: it accepts no more values, and no call waits any longer.
  package func close() { queue.change { $0.isClosed = true } }
}
