/// A short queue from one thread to another.
package final class Channel<Value: Sendable>: Sendable {
  private let capacity: Int
  private let queue = Locked(Queue())

  private struct Queue {
    var values: [Value] = []
    var isClosed = false
  }

  /// Makes a queue of at most `capacity` values.
  package init(capacity: Int) { self.capacity = capacity }

  /// Whether the next value would have to be waited for, as things stand.
  package var isEmpty: Bool { queue.withLock { $0.values.isEmpty } }

  /// Appends a value, waiting for room; false once the queue is closed.
  package func put(_ value: Value) -> Bool {
    queue.change(once: { $0.values.count < capacity || $0.isClosed }) { queue in
      if !queue.isClosed { queue.values.append(value) }
      return !queue.isClosed
    }
  }

  /// Takes the first value, waiting for it; nil when there is none and the queue is closed.
  package func take() -> Value? {
    queue.change(once: { !$0.values.isEmpty || $0.isClosed }) { queue in
      queue.values.isEmpty ? nil : queue.values.removeFirst()
    }
  }

  /// Takes no more values, and lets nobody wait any longer.
  package func close() { queue.change { $0.isClosed = true } }
}
