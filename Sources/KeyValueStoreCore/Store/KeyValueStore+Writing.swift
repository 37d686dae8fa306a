public import StoreEngine

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
  /// While the disk makes one batch safe, the next ones can be worked out; they share the next
  /// sync. The batch sees writes that are on their way to the disk. If one of these fails that it
  /// has looked at, it fails with the same error. Reading past the batch waits for them.
  ///
  /// On a server, where other machines may write at any time, the closure runs again when they have
  /// changed something that it has read. What it sees was always so at one moment. So let it change
  /// nothing but the batch, and its own variables from their beginnings. After a minute of that the
  /// write throws `conflict`.
  ///
  /// Complexity: O(log n) for each change, and one commit of the backend. One thread waits for a
  /// sync of the disk each time at full durability: batches of hundreds are many times faster than
  /// single puts.
  ///
  /// - Parameter body: Gets the batch; when it throws, nothing is written.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws; `StoreError` with `nestedWrite`; what the backend
  ///   throws (`readOnly`, `noSpace`, `ioError`, `reopenNeeded`, `closed`), and nothing has been
  ///   written then.
  public func write<Result>(_ body: (inout KeyValueBatch) throws -> Result) throws -> Result {
    try attempt(body).get()
  }

  /// Does a write whose closure throws errors of stores only.
  func writeTyped<Result>(
    _ body: (inout KeyValueBatch) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try attempt(body).get()
  }

  /// Does a write.
  ///
  /// - Returns: what has become of the closure; where it has thrown, nothing is written.
  func attempt<Result, Failure: Error>(
    _ body: (inout KeyValueBatch) throws(Failure) -> Result
  ) throws(StoreError) -> Swift.Result<Result, Failure> {
    do {
      return try writeOnce(body)
    } catch {
      throw error.causeOfOutdated ?? error
    }
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
  public func purgeExpired() throws(StoreError) -> Int {
    try exclusively { () throws(StoreError) in
      var batch = KeyValueBatch(self)
      var count = 0
      for state in states { count += try batch.sweep(state, atMost: .max) }
      try commit(batch)
      return count
    }
  }
}
