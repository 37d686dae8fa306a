internal import Files

extension CDBReader {
  /// Lends all keys and values, in the order in which they were added.
  ///
  /// Complexity: linear in the file.
  ///
  /// - Throws: ``CDBError`` with `damaged`, and what the closure throws, which ends it.
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

  /// Lends keys and values from where an earlier scan ended, until the closure returns false.
  ///
  /// The result is the place behind the last record that was lent; nil at the end of all.
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

  /// A place in the file to go on from, record by record.
  ///
  ///     var cursor = songs.cursor()
  ///     while try cursor.next() { print(cursor.key) }
  public func cursor() -> CDBCursor { CDBCursor(self) }

  /// Whether the record of a cursor is the one that look-ups of its key give.
  func isFirst(_ cursor: CDBCursor) throws -> Bool {
    guard let record = cursor.record else { return false }
    return try file.withBytes { bytes in
      let key = bytes.extracting(record.key)
      var search = CDBSearch(layout, for: key)
      return try next(&search, bytes, key)?.position == record.position
    }
  }
}

/// A walk over the records of a ``CDBReader``, which the caller drives.
///
/// Any number of them can be under way.
public struct CDBCursor: Sendable {
  private let reader: CDBReader
  private(set) var record: CDBRecordArea.Record?

  init(_ reader: CDBReader) { self.reader = reader }

  /// Goes to the next record, at first to the first.
  ///
  /// - Returns: false at the end.
  /// - Throws: ``CDBError`` with `damaged`; calling again throws again.
  public mutating func next() throws -> Bool {
    let position = record?.value.upperBound ?? reader.format.headerSize
    guard position < reader.layout.dataEnd else { return false }
    record = try reader.file.withBytes { bytes in
      try reader.record(bytes, at: position)
    }
    return true
  }

  /// Lends the key of the record; no bytes before the first ``next()``.
  ///
  /// - Throws: what the closure throws.
  public func withKey<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try lend(record?.key ?? 0..<0, body)
  }

  /// Lends the value of the record; no bytes before the first ``next()``.
  ///
  /// - Throws: what the closure throws.
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
