import Locks
import StoreEngine

/// The turn of the write that is prepared; all others wait for it.
struct WriteTurn: ~Copyable, Sendable {
  private let isTaken = Locked(false)
  /// Whether another thread may end the turn than the one that has taken it.
  private let isMovable: Bool

  init(isMovable: Bool) { self.isMovable = isMovable }

  /// Waits for the turn, and takes it.
  func take() {
    if isMovable { isTaken.change(once: { !$0 }) { $0 = true } } else { isTaken.lock() }
  }

  /// Ends the turn.
  func end() {
    if isMovable { isTaken.change { $0 = false } } else { isTaken.unlock() }
  }
}

extension WriteTurn {
  /// Runs a closure during a turn.
  func during<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    take()
    defer { end() }
    return try body()
  }
}

/// The pending writes of a store, which are prepared and not visible yet.
final class WritesUnderWay: Sendable {
  let turn: WriteTurn
  private let list = Locked<[WriteUnderWay]>([])

  /// - Parameter mayMove: Whether another thread may end the turn of a write.
  init(mayMove: Bool) { turn = WriteTurn(isMovable: mayMove) }

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
