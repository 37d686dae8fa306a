internal import Files

extension CDBReader {
  /// Calls a closure with the value of a key, the first one if there are several.
  ///
  /// Complexity: constant time, and linear in the key: usually two places in the file are read. If
  /// keys were chosen to have the same hash, the first look-up that meets many of them reads all
  /// keys of their table.
  ///
  /// - Returns: The result of the closure, or nil if there is no such key.
  /// - Throws: ``CDBError`` with `damaged`, or an error of the closure.
  @inlinable
  public func withValue<Result>(
    forKey key: RawSpan, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try lendFirst(key) { result = try body($0) }
    return result
  }

  /// Calls a closure with the value of a key, the first one if there are several.
  ///
  /// Complexity: constant time on average, and linear in the key.
  ///
  /// - Returns: The result of the closure, or nil if there is no such key.
  /// - Throws: ``CDBError`` with `damaged`, or an error of the closure.
  @inlinable
  public func withValue<Result>(
    forKey key: [UInt8], _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try lendFirst(key) { result = try body($0) }
    return result
  }

  /// Calls a closure with the value of a UTF-8 key, the first one if there are several.
  ///
  /// Complexity: constant time on average, and linear in the key.
  ///
  /// - Returns: The result of the closure, or nil if there is no such key.
  /// - Throws: ``CDBError`` with `damaged`, or an error of the closure.
  @inlinable
  public func withValue<Result>(
    forKey key: String, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try lendFirst(key) { result = try body($0) }
    return result
  }

  @usableFromInline
  func lendFirst(_ key: RawSpan, _ body: (RawSpan) throws -> Void) throws {
    try file.withBytes { bytes in
      guard let value = try firstValue(bytes, key) else { return }
      defer { file.releaseIfLarge(value) }
      try body(bytes.extracting(value))
    }
  }

  private func firstValue(_ bytes: RawSpan, _ key: RawSpan) throws(CDBError) -> Range<Int>? {
    var search = CDBSearch(layout, for: key)
    return try next(&search, bytes, key)?.value
  }

  @inline(__always)
  func next(
    _ search: inout CDBSearch, _ bytes: RawSpan, _ key: RawSpan
  ) throws(CDBError) -> CDBRecordArea.Record? {
    do throws(CDBRecordArea.Fault) {
      if let record = try search.next(bytes, key) { return record }
      return search.isCrowded ? try nextInCrowd(&search, bytes, key) : nil
    } catch { throw error.error(path) }
  }

  @inline(__always)
  func record(_ bytes: RawSpan, at position: Int) throws(CDBError) -> CDBRecordArea.Record {
    do throws(CDBRecordArea.Fault) {
      return try layout.area.record(bytes, at: UInt64(position), from: position)
    } catch { throw error.error(path) }
  }

  @usableFromInline
  func lendFirst(_ key: [UInt8], _ body: (RawSpan) throws -> Void) throws {
    try key.lend { try lendFirst($0, body) }
  }

  @usableFromInline
  func lendFirst(_ key: String, _ body: (RawSpan) throws -> Void) throws {
    try key.lendUTF8 { try lendFirst($0, body) }
  }

  // MARK: Copies

  /// Returns a copy of the value of a key, the first one if there are several.
  ///
  /// Complexity: constant time on average, and linear in the key and in the value.
  ///
  /// - Returns: nil if there is none.
  ///
  /// - Throws: ``CDBError`` with `damaged`.
  public func value(forKey key: [UInt8]) throws -> [UInt8]? {
    try withValue(forKey: key) { [UInt8](copying: $0) }
  }

  /// Returns a copy of the value of a UTF-8 key, the first one if there are several, or nil.
  ///
  /// Complexity: constant time on average, and linear in the key and in the value.
  ///
  /// - Throws: ``CDBError`` with `damaged`.
  public func value(forKey key: String) throws -> [UInt8]? {
    try withValue(forKey: key) { [UInt8](copying: $0) }
  }

  /// Returns whether there is a record with this key.
  ///
  /// Complexity: constant time on average, and linear in the key.
  ///
  /// - Throws: ``CDBError`` with `damaged`.
  public func contains(_ key: [UInt8]) throws -> Bool { try withValue(forKey: key) { _ in } != nil }

  // MARK: Several values

  /// Calls a closure with all values of a key, in the order in which they were added.
  ///
  ///     try index.forEachValue(forKey: Array("Queen".utf8)) { row in rows.append(decode(row)) }
  ///
  /// Complexity: linear in the number of values on average; the key is compared for each.
  ///
  /// - Throws: ``CDBError`` with `damaged`, or an error of the closure, which ends the iteration.
  public func forEachValue(
    forKey key: [UInt8], _ body: (RawSpan) throws -> Void
  ) throws {
    try key.lend { key in
      try file.withBytes { bytes in
        var search = CDBSearch(layout, for: key)
        while let record = try next(&search, bytes, key) {
          try body(bytes.extracting(record.value))
        }
      }
    }
  }

  /// Returns copies of all values of a key, in the order in which they were added.
  ///
  /// Complexity: linear in the size of the values on average; the key is compared for each.
  ///
  /// - Throws: ``CDBError`` with `damaged`.
  public func values(forKey key: [UInt8]) throws -> [[UInt8]] {
    var values: [[UInt8]] = []
    try forEachValue(forKey: key) { values.append([UInt8](copying: $0)) }
    return values
  }
}
