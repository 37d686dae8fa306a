import Files
import Locks
import StoreEngine
import Synchronization

// A write is worked out while nobody else works one out. Then its commit gets its place behind those
// that are on their way to the disk, and the next write is worked out over all of them.
extension KeyValueStore {
  /// Has this thread work out a write, up to ``endTurn()``.
  ///
  /// - Throws: `StoreError` with `nestedWrite`; `StoreError` with `forked`.
  func beginTurn() throws(StoreError) {
    try checkIsNotNested()
    if isShared { backend.coordinator.yieldToProcesses() }
    turn.lock()
    if isShared {
      do throws(StoreError) {
        try backend.coordinator.beginWithoutProcesses()
      } catch {
        turn.unlock()
        throw error
      }
    }
    news?.beginWrite()
    writingThread.store(ThreadIdentity.current, ordering: .relaxed)
  }

  /// Lets the next write be worked out, if this thread has the turn.
  func endTurn() {
    guard isWriting else { return }
    writingThread.store(0, ordering: .relaxed)
    news?.endWrite()
    if isShared { backend.coordinator.endWithoutProcesses() }
    turn.unlock()
  }

  /// Whether this thread works out a write.
  var isWriting: Bool {
    let thread = writingThread.load(ordering: .relaxed)
    return thread != 0 && thread == ThreadIdentity.current
  }

  /// Has a thread that works out a write, and reads past its batch, wait until everyone sees the
  /// writes before it.
  func settleIfWriting() { if isWriting { writesUnderWay.waitForAll() } }

  /// Runs a closure while nobody else writes, and everyone sees what was written before; again where
  /// a server has refused what it has committed.
  func exclusively<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try repeatedly { () throws(StoreError) in
      try beginTurn()
      defer { endTurn() }
      writesUnderWay.waitForAll()
      return try body()
    }
  }

  /// Refuses a child process that was forked: those who write for its parent are not there.
  func checkProcess() throws(StoreError) {
    if process != currentProcess() { throw StoreError.forked(backend.location) }
  }

  /// Refuses a write inside another one, which would wait for itself.
  private func checkIsNotNested() throws(StoreError) {
    try checkProcess()
    if isWriting {
      throw StoreError(
        .nestedWrite, "A write was begun inside another one: use the batch of that one.")
    }
  }
}
