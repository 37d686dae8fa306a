import Files
import Locks
import StoreEngine
import Synchronization

// Writes are prepared one at a time. Then the commit joins the queue behind those that are on their
// way to the disk. The next write is prepared on top of all of them.
extension KeyValueStore {
  /// Starts to prepare a write on this thread, until ``endTurn()``.
  ///
  /// - Throws: `StoreError` with `nestedWrite` or `forked`.
  func beginTurn() throws(StoreError) {
    try checkIsNotNested()
    if isShared { backend.coordinator.yieldToProcesses() }
    writesUnderWay.turn.take()
    if isShared {
      do throws(StoreError) {
        try backend.coordinator.beginWithoutProcesses()
      } catch {
        writesUnderWay.turn.end()
        throw error
      }
    }
    news?.beginWrite()
    writingThread.store(ThreadIdentity.current, ordering: .relaxed)
  }

  /// Allows the next write to be prepared, if this thread has the turn.
  func endTurn() {
    guard isWriting else { return }
    leaveTurn()
    writesUnderWay.turn.end()
  }

  /// Ends the preparation of a write, whose turn another thread then ends.
  func leaveTurn() {
    writingThread.store(0, ordering: .relaxed)
    news?.endWrite()
    if isShared { backend.coordinator.endWithoutProcesses() }
  }

  /// Whether this thread prepares a write.
  var isWriting: Bool {
    let thread = writingThread.load(ordering: .relaxed)
    return thread != 0 && thread == ThreadIdentity.current
  }

  /// Waits until the writes before are visible, if this thread prepares one and bypasses its batch.
  func settleIfWriting() { if isWriting { writesUnderWay.waitForAll() } }

  /// Runs a closure while no other write runs and all earlier writes are visible.
  ///
  /// The closure runs again if a server has refused its commit.
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

  /// Throws in a forked child process: the threads that write for its parent don't exist there.
  func checkProcess() throws(StoreError) {
    try tables.checkProcess()
  }

  /// Throws if a write begins inside another one, which would deadlock.
  private func checkIsNotNested() throws(StoreError) {
    try checkProcess()
    if isWriting {
      throw StoreError(
        .nestedWrite, "A write was begun inside another one: use the batch of that one.")
    }
  }
}
