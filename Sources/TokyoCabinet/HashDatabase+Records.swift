import Files

extension HashDatabase {
  /// The maximum size of a key and a value together, because the library counts in `int`.
  static var recordSizeLimit: Int { 512 << 20 }

  // MARK: Reading

  /// Calls a closure with the value of a key.
  ///
  /// Values of up to 1,023 bytes are read onto the stack of this thread, larger ones into memory
  /// that is freed afterwards. The closure runs without a lock: it may call the database. It uses
  /// `tchdbget3` and `tchdbget`.
  ///
  /// Complexity: constant time on average. Look-ups run concurrently on any threads.
  ///
  /// - Returns: The result of the closure, or nil if there is no such key.
  /// - Throws: ``TokyoCabinetError`` with `recordTooLarge` for a key that no record can have,
  ///   `damaged`, `readFailed` or `closed`, or an error of the closure.
  public func withValue<Result>(
    forKey key: RawSpan, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    try checkOpen("get")
    try checkSize(key.byteCount, "get")
    do {
      return try handle.withValue(key, body)
    } catch {
      throw explained(error, "get")
    }
  }

  /// Returns the value of a key; nil if there is no such key.
  ///
  /// Complexity: constant time on average. Safe on any thread; see ``withValue(forKey:_:)``.
  ///
  /// - Throws: ``TokyoCabinetError`` with `recordTooLarge` for a key that no record can have,
  ///   `damaged`, `readFailed` or `closed`.
  public func value(forKey key: [UInt8]) throws -> [UInt8]? {
    try key.lend { key in try withValue(forKey: key) { [UInt8](copying: $0) } }
  }

  /// Returns the size of the value of a key in bytes; nil if there is no such key (`tchdbvsiz`).
  ///
  /// Complexity: constant time on average. Safe on any thread.
  ///
  /// - Throws: ``TokyoCabinetError`` with `recordTooLarge` for a key that no record can have,
  ///   `damaged`, `readFailed` or `closed`.
  public func valueSize(forKey key: [UInt8]) throws -> Int? {
    try checkOpen("valueSize")
    try checkSize(key.count, "valueSize")
    do {
      return try key.lend { try handle.valueSize($0) }
    } catch {
      throw explained(error, "valueSize")
    }
  }

  // MARK: Writing

  /// Stores a record, replacing one with the same key (`tchdbput`).
  ///
  /// Complexity: constant time on average. Safe on any thread; waits for other writers.
  ///
  /// - Throws: ``TokyoCabinetError`` with `readOnly`, `fileTooLarge`, `recordTooLarge`, `noSpace`,
  ///   `damaged`, `writeFailed`, `inForEach`, `forked` or `closed`.
  public func put(key: RawSpan, value: RawSpan) throws {
    try writing("put") {
      try makeRoom(key.byteCount, value.byteCount, "put")
      try handle.put(key, value)
    }
  }

  /// Stores a record unless there is one with the same key (`tchdbputkeep`).
  ///
  /// Complexity: constant time on average. Safe on any thread; waits for other writers.
  ///
  /// - Returns: Whether the record was stored.
  /// - Throws: ``TokyoCabinetError`` as ``put(key:value:)-(RawSpan,_)``.
  public func putIfAbsent(key: RawSpan, value: RawSpan) throws -> Bool {
    try writing("putIfAbsent") {
      try makeRoom(key.byteCount, value.byteCount, "putIfAbsent")
      return try handle.putIfAbsent(key, value)
    }
  }

  /// Appends bytes to the value of a key, which is created if it is missing (`tchdbputcat`).
  ///
  /// Complexity: linear in the size of the new value. Safe on any thread; waits for other writers.
  ///
  /// - Throws: ``TokyoCabinetError`` as ``put(key:value:)-(RawSpan,_)``.
  public func append(key: RawSpan, value: RawSpan) throws {
    try writing("append") {
      try checkSize(key.byteCount, "append")
      let old = try handle.valueSize(key) ?? 0
      try makeRoom(key.byteCount, old + value.byteCount, "append")
      try handle.append(key, value)
    }
  }

  /// Removes a record (`tchdbout`).
  ///
  /// Complexity: constant time on average. Safe on any thread; waits for other writers.
  ///
  /// - Returns: Whether the record existed.
  /// - Throws: ``TokyoCabinetError`` with `readOnly`, `recordTooLarge` for a key that no record can
  ///   have, `damaged`, `writeFailed`, `inForEach`, `forked` or `closed`.
  public func remove(key: RawSpan) throws -> Bool {
    try writing("remove") {
      try checkSize(key.byteCount, "remove")
      return try handle.remove(key)
    }
  }

  // MARK: Writing arrays of bytes

  /// Stores a record, replacing one with the same key (`tchdbput`).
  ///
  /// Complexity: constant time on average; waits for other writers.
  ///
  /// - Throws: ``TokyoCabinetError`` as ``put(key:value:)-(RawSpan,_)``.
  public func put(key: [UInt8], value: [UInt8]) throws {
    try key.lend { key in try value.lend { try put(key: key, value: $0) } }
  }

  /// Stores a record unless there is one with the same key (`tchdbputkeep`).
  ///
  /// Complexity: constant time on average; waits for other writers.
  ///
  /// - Returns: Whether the record was stored.
  /// - Throws: ``TokyoCabinetError`` as ``put(key:value:)-(RawSpan,_)``.
  public func putIfAbsent(key: [UInt8], value: [UInt8]) throws -> Bool {
    try key.lend { key in try value.lend { try putIfAbsent(key: key, value: $0) } }
  }

  /// Appends bytes to the value of a key, which is created if it is missing (`tchdbputcat`).
  ///
  /// Complexity: linear in the size of the new value; waits for other writers.
  ///
  /// - Throws: ``TokyoCabinetError`` as ``put(key:value:)-(RawSpan,_)``.
  public func append(key: [UInt8], value: [UInt8]) throws {
    try key.lend { key in try value.lend { try append(key: key, value: $0) } }
  }

  /// Removes a record, and returns whether it existed (`tchdbout`).
  ///
  /// Complexity: constant time on average; waits for other writers.
  ///
  /// - Throws: ``TokyoCabinetError`` as ``remove(key:)-(RawSpan)``.
  public func remove(key: [UInt8]) throws -> Bool {
    try key.lend { try remove(key: $0) }
  }

  private func checkSize(_ size: Int, _ operation: String) throws {
    if size > Self.recordSizeLimit {
      throw error(.recordTooLarge, operation, "a record may not be larger than 512 MiB")
    }
  }
}
