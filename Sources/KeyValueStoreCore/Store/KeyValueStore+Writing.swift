import Files
import FoundationEssentials
import Locks
import StoreEngine
import Synchronization

extension KeyValueStore {
  /// Writes to any number of tables in one commit: all of it is there after a crash, or nothing.
  ///
  ///     try store.write { batch in
  ///       let left = try batch.get("stock", from: shop, as: Int.self) ?? 0
  ///       try batch.put(left - 1, for: "stock", in: shop)
  ///       try batch.put("sold", for: "order 7", in: orders)
  ///     }
  ///
  /// Nobody else writes meanwhile, so that what the batch has read stays true until it is written.
  /// Others read what was there before. What the closure does with the tables themselves, past the
  /// batch, is not part of it: reading is fine, writing is refused.
  ///
  /// Complexity: O(log n) for each change, and one commit of the backend, which is one sync of the
  /// disk at full durability: batches of hundreds are many times faster than single puts.
  ///
  /// - Parameter body: Gets the batch; when it throws, nothing is written.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws; ``KeyValueError`` with `nestedWrite`; what the backend
  ///   throws (`readOnly`, `full`, `ioError`, `reopenNeeded`, `closed`), and nothing has been
  ///   written then.
  public func write<Result>(_ body: (inout KeyValueBatch) throws -> Result) throws -> Result {
    try exclusively {
      var batch = KeyValueBatch(self)
      let result = try body(&batch)
      try finish(&batch)
      return result
    }
  }

  /// Sweeps on the way, and commits.
  func finish(_ batch: inout KeyValueBatch) throws {
    try batch.sweep(atMost: Self.sweptAtOnce)
    try commit(batch)
  }

  /// How many expired items a write takes along at most.
  private static let sweptAtOnce = 64

  private func commit(_ batch: KeyValueBatch) throws {
    let changes = batch.changes
    if changes.isEmpty { return }
    try backend.commit(changes)
    batch.publish()
  }

  /// Removes all items that have expired, of all tables, in one commit.
  ///
  /// Expired items are never seen, and every write removes some of its tables' on the way. This is
  /// for giving their room back at a time of your own.
  ///
  /// Complexity: O(log n) for each expired item.
  ///
  /// - Returns: how many items were removed.
  /// - Throws: what the backend throws; nothing has been removed then.
  @discardableResult
  public func purgeExpired() throws -> Int {
    try exclusively {
      var batch = KeyValueBatch(self)
      var count = 0
      for state in states { count += try batch.sweep(state, atMost: .max) }
      try commit(batch)
      return count
    }
  }

  /// Runs a closure while nobody else writes.
  func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
    try refuseNesting()
    return try writer.withLock { count in
      writingThread.store(ThreadIdentity.current, ordering: .relaxed)
      defer { writingThread.store(0, ordering: .relaxed) }
      count += 1
      return try body()
    }
  }

  /// Refuses a child process that was forked: those who write for its parent are not there.
  func refuseFork() throws {
    if process != currentProcess() { throw StoreError.forked(backend.location) }
  }

  /// Refuses a write inside another one, which would wait for itself.
  func refuseNesting() throws {
    try refuseFork()
    if writingThread.load(ordering: .relaxed) == ThreadIdentity.current {
      throw KeyValueError(
        .nestedWrite, "A write was begun inside another one: use the batch of that one.")
    }
  }
}
