public import StoreEngine

// The forms for tasks. A value is encoded on the task, so that it need not be `Sendable`; the rest
// happens on the store's own thread.

extension KeyValueTable {
  /// Puts a value under a key, in one commit with the puts of other tasks.
  ///
  /// An existing value is replaced. The task waits until the put is durable, and blocks no thread.
  /// If the task is cancelled before the commit has begun, nothing is written.
  ///
  /// Complexity: O(log n), linear in the size of the value, and one commit of the backend, which
  /// tasks share.
  ///
  /// - Parameters:
  ///   - value: Text, a number, or anything else that is `Encodable`.
  ///   - key: Any text, including the empty text.
  ///   - expiresAfter: The time until the item expires; nil if it does not expire.
  /// - Throws: `StoreError` with `cancelled`, `notEncodable`, `invalidExpiry` or `noSuchTable`, and
  ///   the errors of the backend. Nothing is changed then.
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
  /// Complexity: As for one value, for each of them, with one commit of the backend.
  ///
  /// - Throws: As for one value.
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

  /// Deletes a key, in one commit with the puts and deletes of other tasks.
  ///
  /// Complexity: O(log n), and one commit of the backend, which tasks share.
  ///
  /// - Returns: Whether the key existed.
  /// - Throws: `StoreError` with `cancelled` or `noSuchTable`, and the errors of the backend.
  @discardableResult
  public nonisolated(nonsending) func delete(_ key: String) async throws(StoreError) -> Bool {
    try await store.performForTask(SingleWrite(table: self, key: key, change: .delete))
  }

  /// Deletes several keys, all of them or none.
  ///
  /// Complexity: O(log n) for each key, and one commit of the backend.
  ///
  /// - Returns: The number of keys that existed.
  /// - Throws: As for one key.
  @discardableResult
  public nonisolated(nonsending) func delete(_ keys: some Sequence<String>) async throws(StoreError)
    -> Int
  {
    let keys = Array(keys)
    return try await store.writeForTask { (batch) throws(StoreError) in
      try batch.delete(keys, from: self)
    }.get()
  }

  /// Deletes all keys that begin with a text in one commit; no character has a special meaning.
  ///
  /// Complexity: O(log n) for each key that is deleted, and one commit of the backend.
  ///
  /// - Returns: The number of keys that existed.
  /// - Throws: As for one key.
  @discardableResult
  public nonisolated(nonsending) func deleteAll(prefix: String) async throws(StoreError) -> Int {
    try await store.writeForTask { (batch) throws(StoreError) in
      try batch.deleteAll(prefix: prefix, from: self)
    }.get()
  }

  /// Deletes all items in one commit, and keeps the table.
  ///
  /// Complexity: Constant time, and one commit of the backend.
  ///
  /// - Throws: As for one key.
  public nonisolated(nonsending) func removeAll() async throws(StoreError) {
    try await store.writeForTask { (batch) throws(StoreError) in
      try batch.removeAll(from: self)
    }.get()
  }
}

extension KeyValueSelection {
  /// Deletes the selected items in one commit.
  ///
  /// Complexity: As ``keys()``, O(log n) for each key that is deleted, and one commit of the
  /// backend.
  ///
  /// - Returns: The number of deleted items.
  /// - Throws: The errors of ``items()``, and `StoreError` with `cancelled`.
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
  /// This is the async form of the `write` that blocks; see there for the details. A task that is
  /// cancelled before the closure has begun gets `cancelled`. After that, the write runs to its
  /// end.
  ///
  /// Complexity: As the `write` that blocks.
  ///
  /// - Parameter body: Receives the batch. If it throws, nothing is written.
  /// - Returns: The result of the closure.
  /// - Throws: The errors of the closure and of the backend, and `StoreError` with `cancelled`.
  ///   Nothing is written then.
  public nonisolated(nonsending) func write<Result: Sendable>(
    _ body: @escaping @Sendable (inout KeyValueBatch) throws -> Result
  ) async throws -> Result {
    try await writeForTask(body).get()
  }

  /// Removes all expired items of all tables in one commit.
  ///
  /// Complexity: O(log n) for each expired item, and one commit of the backend.
  ///
  /// - Returns: The number of removed items.
  /// - Throws: `StoreError` with `cancelled`, and the errors of the backend. Nothing is removed
  ///   then.
  @discardableResult
  public nonisolated(nonsending) func purgeExpired() async throws(StoreError) -> Int {
    try await performForTask { () throws(StoreError) in try self.purgeExpired() }
  }

  /// Creates a table, or returns the existing one.
  ///
  /// Complexity: As ``table(_:)`` if the table exists. Otherwise linear in the number of tables,
  /// and one commit of the backend.
  ///
  /// - Throws: `StoreError` with `cancelled`, and the errors of the backend, such as `readOnly`.
  @discardableResult
  public nonisolated(nonsending) func createTable(_ name: String) async throws(StoreError)
    -> KeyValueTable
  {
    if let known = try? table(name) { return known }
    return try await performForTask { () throws(StoreError) in try self.createTable(name) }
  }

  /// Removes a table with all its items in one commit; does nothing if there is none.
  ///
  /// Complexity: Linear in the number of tables, and one commit of the backend, after the writes
  /// that are in progress.
  ///
  /// - Throws: `StoreError` with `cancelled`, and the errors of the backend.
  public nonisolated(nonsending) func dropTable(_ name: String) async throws(StoreError) {
    try await performForTask { () throws(StoreError) in try self.dropTable(name) }
  }
}
