internal import Files
internal import Locks

extension CDBStore {
  /// The value of a key, including unsaved changes; setting nil deletes it.
  ///
  /// A value that can't be read results in nil, and sets ``failure``; ``value(forKey:)`` throws the
  /// error. On a closed store, getting returns nil, and setting only sets ``failure``.
  ///
  /// Complexity: as ``value(forKey:)`` to get, constant time to set.
  public subscript(key: Key) -> Value? {
    get {
      do {
        return try value(forKey: key)
      } catch {
        note(error)
        return nil
      }
    }
    set {
      do {
        try setValue(newValue, forKey: key)
      } catch { note(error) }
    }
  }

  /// Returns the value of a key, including unsaved changes; nil if there is none.
  ///
  /// Complexity: constant time, plus decoding for a value that was not read before.
  ///
  /// - Throws: ``CDBError`` with `notDecodable`, `damaged` or `closed`.
  public func value(forKey key: Key) throws -> Value? {
    let bytes = keyCodec.encode(key)
    return try state.withLock { state in
      try checkOpen(state)
      return try value(bytes, &state)
    }
  }

  private func value(_ key: [UInt8], _ state: inout State) throws -> Value? {
    if let change = state.changes[key] { return change.value }
    if let value = state.cache[key] { return value }
    guard let reader = state.reader else { return nil }
    let value = try reader.withValue(forKey: key) { try decode($0, key) }
    state.cache[key] = value
    return value
  }

  /// Sets the value of a key; nil deletes it.
  ///
  /// The value is encoded when it is saved.
  ///
  /// Complexity: linear in the size of the key.
  ///
  /// - Throws: ``CDBError`` with `closed`.
  public func setValue(_ value: Value?, forKey key: Key) throws {
    let bytes = keyCodec.encode(key)
    try state.withLock { state in
      try checkOpen(state)
      state.changes[bytes] = Change(key: key, value: value)
      state.cache[bytes] = nil
    }
    planAutosave()
  }

  // MARK: Changes

  /// Marks the value of a key, which is an object, as changed, so that it is saved.
  ///
  /// It has no effect if there is no such key.
  ///
  /// Complexity: as ``value(forKey:)``.
  ///
  /// - Throws: ``CDBError`` with `notDecodable`, `damaged` or `closed`.
  public func objectChanged(forKey key: Key) throws {
    let bytes = keyCodec.encode(key)
    try state.withLock { state in
      try checkOpen(state)
      guard let value = try value(bytes, &state) else { return }
      state.changes[bytes] = Change(key: key, value: value)
      state.cache[bytes] = nil
    }
    planAutosave()
  }

  /// Marks an object as changed, so that it is saved under all keys for which it was read.
  ///
  /// Complexity: linear in the values in memory; ``objectChanged(forKey:)`` is faster.
  ///
  /// - Throws: ``CDBError`` with `notDecodable` or `closed`.
  public func objectChanged(_ object: Value) throws where Value: AnyObject {
    try state.withLock { state in
      try checkOpen(state)
      for (bytes, value) in state.cache where value === object {
        let key = try decode(key: bytes)
        state.changes[bytes] = Change(key: key, value: value)
        state.cache[bytes] = nil
      }
    }
    planAutosave()
  }

  /// Whether there are unsaved changes.
  public var hasChanges: Bool { state.withLock { !$0.changes.isEmpty } }

  /// The keys that were added, changed or deleted since the last save, in no particular order.
  public var changedKeys: [Key] { state.withLock { $0.changes.values.map(\.key) } }

  // MARK: Bytes

  func decode(_ bytes: RawSpan, _ key: [UInt8]) throws -> Value {
    guard let tag = bytes.firstByte else {
      throw notDecodable("the value is empty, and the first byte should be its tag", key)
    }
    do {
      return try valueCodec.decode(bytes.extracting(1...), tag: tag)
    } catch { throw notDecodable("\(error)", key) }
  }

  func decode(key bytes: [UInt8]) throws -> Key {
    do {
      return try bytes.lend { try keyCodec.decode($0) }
    } catch { throw notDecodable("\(error)", bytes) }
  }

  private func notDecodable(_ reason: String, _ key: [UInt8]) -> CDBError {
    CDBError(
      .notDecodable, path: path,
      message: "The codec can't read the value: \(reason). Another codec may have written it.",
      key: key)
  }
}
