public import StoreEngine

extension KeyValueTable {
  /// Puts a value under a key in a commit of its own, and replaces an existing value.
  ///
  /// An existing item keeps its creation time, but not its expiry.
  ///
  /// Complexity: O(log n), linear in the size of the value, and one commit of the backend. Commits
  /// that threads make at the same time reach the disk together. For many puts on one thread,
  /// `KeyValueStore.write(_:)` is faster.
  ///
  /// - Parameters:
  ///   - value: Text, a number, a `Bool`, a `Date`, `Data`, an optional, arrays and dictionaries of
  ///     these, a `StoredValue`, or anything `Encodable`.
  ///   - key: Any text, including the empty text.
  ///   - expiresAfter: The time until the item expires; nil if it does not expire.
  /// - Throws: `StoreError` with `notEncodable`, `invalidExpiry`, `noSuchTable` or `nestedWrite`,
  ///   and the errors of the backend. Nothing is changed then.
  public func put<Value: Encodable>(
    _ value: Value, for key: String, expiresAfter: Duration? = nil
  ) throws(StoreError) {
    try state.check()
    let stored = try stored(value, for: key)
    let write = SingleWrite(
      table: self, key: key, change: .put(stored, expiresAfter: expiresAfter))
    _ = try store.perform(write)
  }

  /// Puts several values, all of them or none.
  ///
  /// Complexity: As `put(_:for:expiresAfter:)` for each value, with one commit of the backend.
  ///
  /// - Throws: The errors of `put(_:for:expiresAfter:)`.
  public func put<Value: Encodable>(
    _ values: [String: Value], expiresAfter: Duration? = nil
  ) throws(StoreError) {
    try store.writeTyped { (batch) throws(StoreError) in
      for (key, value) in values {
        try batch.put(value, for: key, in: self, expiresAfter: expiresAfter)
      }
    }
  }

  /// Deletes a key.
  ///
  /// Complexity: O(log n), and one commit of the backend.
  ///
  /// - Returns: Whether the key existed.
  /// - Throws: `StoreError` with `noSuchTable` or `nestedWrite`, and the errors of the backend.
  @discardableResult
  public func delete(_ key: String) throws(StoreError) -> Bool {
    try store.perform(SingleWrite(table: self, key: key, change: .delete))
  }

  /// Deletes several keys, all of them or none.
  ///
  /// Complexity: O(log n) for each key, and one commit of the backend.
  ///
  /// - Returns: The number of keys that existed.
  /// - Throws: The errors of `delete(_:)`.
  @discardableResult
  public func delete(_ keys: some Sequence<String>) throws(StoreError) -> Int {
    try store.writeTyped { (batch) throws(StoreError) in try batch.delete(keys, from: self) }
  }

  /// Deletes all keys that begin with a text in one commit; no character has a special meaning.
  ///
  /// Complexity: O(log n) for each key that is deleted.
  ///
  /// - Returns: The number of keys that existed.
  /// - Throws: The errors of `delete(_:)`.
  @discardableResult
  public func deleteAll(prefix: String) throws(StoreError) -> Int {
    try store.writeTyped { (batch) throws(StoreError) in
      try batch.deleteAll(prefix: prefix, from: self)
    }
  }

  /// Deletes all items in one commit, and keeps the table.
  ///
  /// Complexity: Constant time, and one commit of the backend.
  ///
  /// - Throws: The errors of `delete(_:)`.
  public func removeAll() throws(StoreError) {
    try store.writeTyped { (batch) throws(StoreError) in try batch.removeAll(from: self) }
  }

  // MARK: Helpers

  /// Returns a value in stored form; its type's own encoding runs here.
  func stored<Value: Encodable>(_ value: Value, for key: String) throws(StoreError) -> StoredValue {
    try naming(key) { () throws(StoreError) in try StoredValue(encoding: value) }
  }

  /// Adds the table and a key to errors without a location.
  func naming<Result>(
    _ key: String, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do {
      return try body()
    } catch {
      // Errors of the backend have a location: a file.
      guard error.location == StoreError.Location() else { throw error }
      throw error.naming(table: name, key: key)
    }
  }
}
