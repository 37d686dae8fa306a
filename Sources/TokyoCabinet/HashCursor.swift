import Files

/// A cursor over the records of a database; any number of cursors can be in use at once.
///
///     var cursor = songs.makeCursor()
///     while let record = try cursor.next() { print(record.key, record.value.count) }
///
/// A cursor is a value: a copy advances independently. To read many records quickly, use
/// ``HashDatabase/scan(from:_:)`` or ``HashDatabase/forEach(_:)``, which copy less.
public struct HashCursor: Sendable {
  private let database: HashDatabase
  private var position: HashDatabase.ScanPosition?
  private var isAtEnd = false

  /// A key and its value.
  public struct Record: Sendable, Hashable {
    /// The key.
    public let key: [UInt8]
    /// The value.
    public let value: [UInt8]
  }

  init(_ database: HashDatabase) { self.database = database }

  /// Returns the next record, or nil at the end.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Throws: ``TokyoCabinetError`` with `disturbed` if the database was written to since the last
  ///   step, `damaged`, `readFailed`, `inForEach` or `closed`.
  public mutating func next() throws -> Record? {
    if isAtEnd { return nil }
    var batch = RecordBatch()
    guard let generation = try database.fill(&batch, from: position, atLeast: 1) else {
      throw database.error(.disturbed, "next", "the database was changed since the last step")
    }
    isAtEnd = batch.isLast
    var record: Record?
    _ = batch.firstStop { key, value in
      record = Record(key: [UInt8](copying: key), value: [UInt8](copying: value))
      return false
    }
    if let end = batch.end { position = .init(offset: end, generation: generation) }
    return record
  }
}

extension HashDatabase {
  /// Returns a cursor before the first record.
  public func makeCursor() -> HashCursor { HashCursor(self) }
}
