internal import Files

extension CDBReader {
  /// Calls a closure with all keys and values, in the order in which they were added.
  ///
  /// Complexity: linear in the file.
  ///
  /// - Throws: ``CDBError`` with `damaged`, or an error of the closure, which ends the iteration.
  public func forEach(_ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void) throws {
    try file.withBytes { bytes in
      var position = format.headerSize
      while position < layout.dataEnd {
        let record = try record(bytes, at: position)
        position = record.value.upperBound
        try body(bytes.extracting(record.key), bytes.extracting(record.value))
      }
    }
  }

  /// Calls a closure with keys and values from a position on, until it returns false.
  ///
  /// The result is the position after the last visited record; nil at the end.
  package func scan(
    from location: Int?, _ body: (_ position: Int, RawSpan, RawSpan) throws -> Bool
  ) throws -> Int? {
    try file.withBytes { bytes in
      var position = location ?? format.headerSize
      while position < layout.dataEnd {
        let record = try record(bytes, at: position)
        position = record.value.upperBound
        let (key, value) = (bytes.extracting(record.key), bytes.extracting(record.value))
        if try !body(record.position, key, value) { return position }
      }
      return nil
    }
  }

  /// Returns a cursor, which visits the records one by one.
  ///
  ///     var cursor = songs.cursor()
  ///     while try cursor.next() { print(cursor.key) }
  public func cursor() -> CDBCursor { CDBCursor(self) }

  /// Whether a look-up of its key finds the record of a cursor.
  func isFirst(_ cursor: CDBCursor) throws -> Bool {
    guard let record = cursor.record else { return false }
    return try file.withBytes { bytes in
      let key = bytes.extracting(record.key)
      var search = CDBSearch(layout, for: key)
      return try next(&search, bytes, key)?.position == record.position
    }
  }
}

/// A cursor over the records of a ``CDBReader``, which the caller advances.
///
/// Any number of cursors can be in use at once.
public struct CDBCursor: Sendable {
  private let reader: CDBReader
  private(set) var record: CDBRecordArea.Record?

  init(_ reader: CDBReader) { self.reader = reader }

  /// Advances to the next record, or to the first one at the beginning.
  ///
  /// Complexity: constant time; at most one page of the file is read from the disk.
  ///
  /// - Returns: false at the end.
  /// - Throws: ``CDBError`` with `damaged`; calling it again throws again.
  public mutating func next() throws -> Bool {
    let position = record?.value.upperBound ?? reader.format.headerSize
    guard position < reader.layout.dataEnd else { return false }
    record = try reader.file.withBytes { bytes in
      try reader.record(bytes, at: position)
    }
    return true
  }

  /// Calls a closure with the key of the record; with no bytes before the first ``next()``.
  ///
  /// Complexity: constant time, plus the time of the closure.
  ///
  /// - Throws: An error of the closure.
  public func withKey<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try lend(record?.key ?? 0..<0, body)
  }

  /// Calls a closure with the value of the record; with no bytes before the first ``next()``.
  ///
  /// Complexity: constant time, plus the time of the closure.
  ///
  /// - Throws: An error of the closure.
  public func withValue<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try lend(record?.value ?? 0..<0, body)
  }

  /// A copy of the key.
  public var key: [UInt8] { withKey { [UInt8](copying: $0) } }
  /// A copy of the value.
  public var value: [UInt8] { withValue { [UInt8](copying: $0) } }

  private func lend<Result>(
    _ range: Range<Int>, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result {
    try reader.file.withBytes { try body($0.extracting(range)) }
  }
}
