import Locks

/// The pending writes of a store, which are prepared and not visible yet.
final class WritesUnderWay: Sendable {
  /// Locked while a write is prepared.
  let turn = Locked(false)
  private let list = Locked<[WriteUnderWay]>([])

  /// All pending writes, in order.
  var all: [WriteUnderWay] { list.withLock { $0 } }

  func append(_ write: WriteUnderWay) { list.withLock { $0.append(write) } }

  /// Removes a write that is visible, or has failed.
  func remove(_ write: WriteUnderWay) {
    list.change { list in
      if let index = list.firstIndex(where: { $0 === write }) { list.remove(at: index) }
    }
  }

  /// Waits until there are no pending writes.
  func waitForAll() { list.change(once: { $0.isEmpty }) { _ in } }

  /// Waits until some writes have ended.
  func wait(for writes: [WriteUnderWay]) {
    for write in writes { list.change(once: { !$0.contains { $0 === write } }) { _ in } }
  }
}
