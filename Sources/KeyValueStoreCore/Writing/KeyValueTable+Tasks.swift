public import StoreEngine

// The forms that tasks await. A value is encoded where the task is, so that it need not be
// `Sendable`; the rest happens on the store's own thread.

extension KeyValueTable {
  /// Puts a value under a key, over what is there, in one commit with what other tasks put
  /// meanwhile.
  ///
  /// The task waits until the put is safe, and blocks no thread. Of a task that is cancelled before
  /// the commit has begun nothing is written.
  ///
  /// - Parameters:
  ///   - value: What can be put: text, numbers, and anything `Encodable`.
  ///   - key: Any text, the empty one too.
  ///   - expiresAfter: When the item is to be gone; nil when it stays.
  /// - Throws: `StoreError` with `cancelled`, `notEncodable`, `invalidExpiry` or `noSuchTable`; what
  ///   the backend throws. Nothing is changed then.
  public nonisolated(nonsending) func put<Value: Encodable>(
    _ value: Value, for key: String, expiresAfter: Duration? = nil
  ) async throws(StoreError) {
    try state.check()
    let stored = try stored(value, for: key)
    _ = try await store.performForTask(
      SingleWrite(table: self, key: key, change: .put(stored, expiresAfter: expiresAfter)))
  }

  /// Puts several values, all of them or none.
  ///
  /// - Throws: as for one value.
  public nonisolated(nonsending) func put<Value: Encodable>(
    _ values: [String: Value], expiresAfter: Duration? = nil
  ) async throws(StoreError) {
    try state.check()
    let encoded = try values.map { (key, value) throws(StoreError) in
      (key, try stored(value, for: key))
    }
    try await store.writeForTask { (batch) throws(StoreError) in
      for (key, value) in encoded {
        try batch.putStored(value, for: key, in: self, expiresAfter: expiresAfter)
      }
    }.get()
  }

  /// Deletes a key, in one commit with what other tasks put and delete meanwhile.
  ///
  /// - Returns: whether it was there.
  /// - Throws: `StoreError` with `cancelled` or `noSuchTable`; what the backend throws.
  @discardableResult
  public nonisolated(nonsending) func delete(_ key: String) async throws(StoreError) -> Bool {
    try await store.performForTask(SingleWrite(table: self, key: key, change: .delete))
  }

  /// Deletes several keys, all of them or none.
  ///
  /// - Returns: how many were there.
  /// - Throws: as for one key.
  @discardableResult
  public nonisolated(nonsending) func delete(_ keys: some Sequence<String>) async throws(StoreError)
    -> Int
  {
    let keys = Array(keys)
    return try await store.writeForTask { (batch) throws(StoreError) in
      try batch.delete(keys, from: self)
    }.get()
  }

  /// Deletes all keys that begin with a text, which is taken as it is, in one commit.
  ///
  /// - Returns: how many there were.
  /// - Throws: as for one key.
  @discardableResult
  public nonisolated(nonsending) func deleteAll(prefix: String) async throws(StoreError) -> Int {
    try await store.writeForTask { (batch) throws(StoreError) in
      try batch.deleteAll(prefix: prefix, from: self)
    }.get()
  }

  /// Deletes all items, in one commit; the table stays.
  ///
  /// - Throws: as for one key.
  public nonisolated(nonsending) func removeAll() async throws(StoreError) {
    try await store.writeForTask { (batch) throws(StoreError) in
      try batch.removeAll(from: self)
    }.get()
  }
}

extension KeyValueSelection {
  /// Deletes the selected items, in one commit.
  ///
  /// - Returns: how many there were.
  /// - Throws: `StoreError` with `cancelled`; as ``items()``.
  @discardableResult
  public nonisolated(nonsending) func delete() async throws(StoreError) -> Int {
    try await table.store.writeForTask { (batch) throws(StoreError) in
      try batch.delete(keys(), from: table)
    }.get()
  }
}

extension KeyValueStore {
  /// Writes to any number of tables in one commit, on a thread of the store's own.
  ///
  ///     let left = try await store.write { batch in
  ///       let left = try batch.get("stock", from: shop, as: Int.self) ?? 0
  ///       try batch.put(left - 1, for: "stock", in: shop)
  ///       return left - 1
  ///     }
  ///
  /// It is what the form does that blocks, see there. A task that is cancelled before the closure
  /// has begun gets `cancelled`; afterwards the write runs to its end.
  ///
  /// - Parameter body: Gets the batch; when it throws, nothing is written.
  /// - Returns: what the closure returns.
  /// - Throws: `StoreError` with `cancelled`; what the closure and what the backend throws. Nothing has been
  ///   written then.
  public nonisolated(nonsending) func write<Result: Sendable>(
    _ body: @escaping @Sendable (inout KeyValueBatch) throws -> Result
  ) async throws -> Result {
    try await writeForTask(body).get()
  }

  /// Removes all items that have expired, of all tables, in one commit.
  ///
  /// - Returns: how many items were removed.
  /// - Throws: `StoreError` with `cancelled`; what the backend throws; nothing has been removed then.
  @discardableResult
  public nonisolated(nonsending) func purgeExpired() async throws(StoreError) -> Int {
    try await performForTask { () throws(StoreError) in try self.purgeExpired() }
  }

  /// Makes a table, or returns the one that is there.
  ///
  /// - Throws: `StoreError` with `cancelled`; what the backend throws, `readOnly` among it.
  @discardableResult
  public nonisolated(nonsending) func createTable(_ name: String) async throws(StoreError)
    -> KeyValueTable
  {
    if let known = try? table(name) { return known }
    return try await performForTask { () throws(StoreError) in try self.createTable(name) }
  }

  /// Removes a table with all its items, in one commit; without an error when there is none.
  ///
  /// - Throws: `StoreError` with `cancelled`; what the backend throws.
  public nonisolated(nonsending) func dropTable(_ name: String) async throws(StoreError) {
    try await performForTask { () throws(StoreError) in try self.dropTable(name) }
  }
}
