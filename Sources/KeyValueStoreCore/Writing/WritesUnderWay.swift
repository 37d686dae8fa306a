import Locks

/// The writes of a store that have been worked out, and that nobody sees yet.
final class WritesUnderWay: Sendable {
  private let list = Locked<[WriteUnderWay]>([])

  /// All of them, in their order.
  var all: [WriteUnderWay] { list.withLock { $0 } }

  func append(_ write: WriteUnderWay) { list.withLock { $0.append(write) } }

  /// Takes out a write that everyone sees, or that has failed.
  func remove(_ write: WriteUnderWay) {
    list.change { list in
      if let index = list.firstIndex(where: { $0 === write }) { list.remove(at: index) }
    }
  }

  /// Waits until there are none.
  func waitForAll() { list.change(once: { $0.isEmpty }) { _ in } }

  /// Waits until these have ended.
  func wait(for writes: [WriteUnderWay]) {
    for write in writes { list.change(once: { !$0.contains { $0 === write } }) { _ in } }
  }
}
