import Locks

/// A part of a save that a second thread does, while the store does another.
final class ParallelWork<Value: Sendable> {
  /// With fewer objects or keys a thread costs more than it helps.
  static var minimumCount: Int { 20_000 }

  private let result = Locked<Result<Value, any Error>?>(nil)
  private var thread: JoinedThread?

  /// Begins; nil when there is no thread to be had.
  init?(_ body: @escaping @Sendable () throws -> Value) {
    let result = result
    thread = JoinedThread {
      let made = Result { try body() }
      result.withLock { $0 = made }
    }
    if thread == nil { return nil }
  }

  /// Waits for the end.
  func finish() -> Result<Value, any Error>? {
    thread = nil
    return result.withLock { $0 }
  }
}
