import Files

/// Goes through the records of a database one by one; any number of cursors may do so at once.
///
///     var cursor = songs.makeCursor()
///     while let record = try cursor.next() { print(record.key, record.value.count) }
///
/// A cursor is a value: a copy goes its own way. To read many records quickly use
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

  /// The next record, or nil at the end.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Throws: ``TokyoCabinetError`` with `disturbed` when the database was written since the last
  ///   step, `damaged`, `readFailed`, `inForEach` or `closed`.
  public mutating func next() throws -> Record? {
    if isAtEnd { return nil }
    var batch = RecordBatch()
    guard let generation = try database.fill(&batch, from: position, atLeast: 1) else {
      throw database.error(.disturbed, "next", "the database was written since the last step")
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
  /// A cursor before the first record.
  public func makeCursor() -> HashCursor { HashCursor(self) }
}
