public import StoreEngine

extension KeyValueStore {
  /// Writes to any number of tables in one commit: after a crash, all of it is there, or nothing.
  ///
  ///     try store.write { batch in
  ///       let left = try batch.get("stock", from: shop, as: Int.self) ?? 0
  ///       try batch.put(left - 1, for: "stock", in: shop)
  ///       try batch.put("sold", for: "order 7", in: orders)
  ///     }
  ///
  /// No other write is prepared at the same time, so the values that the batch reads stay valid
  /// until its commit. Readers see the previous state until then. Calls on the tables themselves
  /// bypass the batch: reads are allowed, and writes throw `nestedWrite`.
  ///
  /// While one batch is synced to disk, the next ones can be prepared; they share the next sync. A
  /// batch sees the writes that are still being synced. If it has read one of these and that write
  /// fails, the batch fails with the same error. Reads that bypass the batch wait for these writes.
  ///
  /// On a server, other machines may write at any time. If they change something that the closure
  /// has read, the closure runs again. Within one run, it sees the data of one moment. So it should
  /// change only the batch, and its own variables from their initial values. After a minute of
  /// retries, the write throws `conflict`.
  ///
  /// Complexity: O(log n) for each change, and one commit of the backend. At full durability, each
  /// write of a thread waits for a sync of the disk: batches of hundreds are many times faster than
  /// single puts.
  ///
  /// - Parameter body: Receives the batch. If it throws, nothing is written.
  /// - Returns: The result of the closure.
  /// - Throws: The errors of the closure, `StoreError` with `nestedWrite`, and the errors of the
  ///   backend (`readOnly`, `noSpace`, `ioError`, `reopenNeeded`, `closed`). Nothing is written
  ///   then.
  public func write<Result>(_ body: (inout KeyValueBatch) throws -> Result) throws -> Result {
    try attempt(body).get()
  }

  /// Performs a write whose closure throws `StoreError` only.
  func writeTyped<Result>(
    _ body: (inout KeyValueBatch) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try attempt(body).get()
  }

  /// Performs a write.
  ///
  /// - Returns: The result of the closure. If it has thrown, nothing is written.
  func attempt<Result, Failure: Error>(
    _ body: (inout KeyValueBatch) throws(Failure) -> Result
  ) throws(StoreError) -> Swift.Result<Result, Failure> {
    do {
      return try writeOnce(body)
    } catch {
      throw error.causeOfOutdated ?? error
    }
  }

  /// Removes all expired items of all tables in one commit.
  ///
  /// Expired items are never visible, and each write removes some of them from its tables. Call
  /// this method to reclaim their space at a time that you choose.
  ///
  /// Complexity: O(log n) for each expired item.
  ///
  /// - Returns: The number of removed items.
  /// - Throws: The errors of the backend. Nothing is removed then.
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
