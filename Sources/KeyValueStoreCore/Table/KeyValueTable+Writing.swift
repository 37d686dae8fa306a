public import StoreEngine

extension KeyValueTable {
  /// Puts a value under a key, over what is there, in a commit of its own.
  ///
  /// The time at which the item was created stays, when there is one; its expiry does not.
  ///
  /// Complexity: O(log n), linear in the value, and one commit of the backend, which reaches the
  /// disk together with those that others make at the same time. Many of one thread are faster by
  /// `KeyValueStore.write(_:)`.
  ///
  /// - Parameters:
  ///   - value: Text, a number, a `Bool`, a `Date`, `Data`, an optional, arrays and dictionaries of
  ///     them, a `StoredValue`, or anything `Encodable`.
  ///   - key: Any text, the empty one too.
  ///   - expiresAfter: When the item is to be gone; nil when it stays.
  /// - Throws: `StoreError` with `notEncodable`, `invalidExpiry`, `noSuchTable` or
  ///   `nestedWrite`; what the backend throws. Nothing is changed then.
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
  /// - Throws: as `put(_:for:expiresAfter:)`.
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
  /// - Returns: whether it was there.
  /// - Throws: `StoreError` with `noSuchTable` or `nestedWrite`; what the backend throws.
  @discardableResult
  public func delete(_ key: String) throws(StoreError) -> Bool {
    try store.perform(SingleWrite(table: self, key: key, change: .delete))
  }

  /// Deletes several keys, all of them or none.
  ///
  /// - Returns: how many were there.
  /// - Throws: as `delete(_:)`.
  @discardableResult
  public func delete(_ keys: some Sequence<String>) throws(StoreError) -> Int {
    try store.writeTyped { (batch) throws(StoreError) in try batch.delete(keys, from: self) }
  }

  /// Deletes all keys that begin with a text, which is taken as it is, in one commit.
  ///
  /// Complexity: O(log n) for each key that is deleted.
  ///
  /// - Returns: how many there were.
  /// - Throws: as `delete(_:)`.
  @discardableResult
  public func deleteAll(prefix: String) throws(StoreError) -> Int {
    try store.writeTyped { (batch) throws(StoreError) in
      try batch.deleteAll(prefix: prefix, from: self)
    }
  }

  /// Deletes all items, in one commit; the table stays.
  ///
  /// Complexity: constant time, and one commit of the backend.
  ///
  /// - Throws: as `delete(_:)`.
  public func removeAll() throws(StoreError) {
    try store.writeTyped { (batch) throws(StoreError) in try batch.removeAll(from: self) }
  }

  // MARK: Helpers

  /// A value as it is stored; its type's own coding runs here.
  func stored<Value: Encodable>(_ value: Value, for key: String) throws(StoreError) -> StoredValue {
    try naming(key) { () throws(StoreError) in try StoredValue(encoding: value) }
  }

  /// Has errors that have no place name the table and a key.
  func naming<Result>(
    _ key: String, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do {
      return try body()
    } catch {
      // The backend's errors have a place: a file.
      guard error.location == StoreError.Location() else { throw error }
      throw error.naming(table: name, key: key)
    }
  }
}
