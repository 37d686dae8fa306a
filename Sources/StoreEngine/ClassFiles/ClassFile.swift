import Files

/// A class file that is open for reading.
///
/// It remains the file that had the name when it was opened, even if another one replaces it. The
/// keys of the records are row IDs, or the names of named buffers in UTF-8.
///
/// Safe on any thread: the file is never written to.
public protocol ClassFile: AnyObject, Sendable {
  /// The number of records.
  ///
  /// Complexity: constant time.
  var recordCount: Int { get }

  /// The size in bytes.
  var byteCount: Int { get }

  /// Calls a closure with the record of a row, without holding a lock.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Returns: The result of the closure, or nil if there is no such row.
  /// - Throws: ``StoreError`` with `damaged` or `ioError`, or an error of the closure.
  func withRecord<Result>(
    _ rowID: UInt32, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of the record of a row to bytes.
  ///
  /// Complexity: constant time on average, and linear in the size of the record.
  ///
  /// - Returns: Whether the row exists.
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func copyRecord(_ rowID: UInt32, to bytes: inout [UInt8]) throws(StoreError) -> Bool

  /// Adds copies of the records of the given rows to a batch, in the order of the rows.
  ///
  /// Rows without a record are left out. The default implementation uses ``copyRecord(_:to:)``.
  ///
  /// Complexity: linear in the number of rows and the size of their records.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func copyRecords(_ rows: [UInt32], to batch: inout RecordBatch) throws(StoreError)

  /// Returns for each of the given rows whether it has a record.
  ///
  /// The default implementation uses ``withRecord(_:_:)``.
  ///
  /// Complexity: linear in the number of rows, on average.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func hasRecords(_ rows: [UInt32]) throws(StoreError) -> [Bool]

  /// Calls a closure with the bytes of a named buffer, without holding a lock.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Returns: The result of the closure, or nil if there is no such name.
  /// - Throws: ``StoreError`` with `damaged` or `ioError`, or an error of the closure.
  func withBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of a named buffer to bytes; uses ``withBuffer(_:_:)`` by default.
  ///
  /// Complexity: constant time on average, and linear in the size of the buffer.
  ///
  /// - Returns: Whether the name exists.
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func copyBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool

  /// Calls a closure with each key, in the order of the file.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`, or an error of the closure.
  func forEachKey(_ body: (RawSpan) throws(StoreError) -> Void) throws(StoreError)

  /// Calls a closure with the records in the order of the file, until the closure pauses.
  ///
  /// Complexity: linear in the scanned part of the file.
  ///
  /// - Parameters:
  ///   - offset: The offset to continue at; nil for the beginning.
  ///   - body: Called with each row ID and its record.
  /// - Returns: The offset to continue at, or nil at the end.
  /// - Throws: ``StoreError`` with `damaged` (a key is not a row ID) or `ioError`, or an error of
  ///   the closure.
  func scan(
    from offset: Int?, _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Int?

  /// Copies the next records into a batch until it is full; uses ``scan(from:_:)`` by default.
  ///
  /// Complexity: linear in the size of the batch.
  ///
  /// - Returns: The offset to continue at, or nil at the end.
  /// - Throws: ``StoreError`` with `damaged` (a key is not a row ID) or `ioError`.
  func copyRecords(from offset: Int?, to batch: inout RecordBatch) throws(StoreError) -> Int?

  /// Writes a new file with the records and the changes, replacing any file of its name.
  ///
  /// Complexity: linear in the size of the file and of the changes. It waits for the disk if the
  /// file is synced.
  ///
  /// - Throws: ``StoreError`` with `rowExists`, `noSpace`, `damaged` or `ioError`.
  func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError)

  /// Writes a new file without gaps; returns false if that would not make it smaller.
  ///
  /// The default implementation returns false.
  ///
  /// Complexity: linear in the size of the file. It waits for the disk if the file is synced.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `damaged` or `ioError`.
  func compact(to new: NewClassFile) throws(StoreError) -> Bool
}

extension ClassFile {
  /// Copies the bytes of ``withBuffer(_:_:)``.
  ///
  /// Complexity: constant time on average, and linear in the size of the buffer.
  ///
  /// - Throws: ``StoreError``, as ``withBuffer(_:_:)``.
  public func copyBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool {
    try withBuffer(name) { bytes.append(copying: $0) } != nil
  }

  /// Copies one record after another.
  ///
  /// Complexity: linear in the number of rows and the size of their records.
  ///
  /// - Throws: ``StoreError``, as ``copyRecord(_:to:)``.
  public func copyRecords(_ rows: [UInt32], to batch: inout RecordBatch) throws(StoreError) {
    try batch.append(rows) { (row, bytes) throws(StoreError) in try copyRecord(row, to: &bytes) }
  }

  /// Looks up one row after another.
  ///
  /// Complexity: linear in the number of rows, on average.
  ///
  /// - Throws: ``StoreError``, as ``withRecord(_:_:)``.
  public func hasRecords(_ rows: [UInt32]) throws(StoreError) -> [Bool] {
    var found: [Bool] = []
    found.reserveCapacity(rows.count)
    for row in rows { found.append(try withRecord(row) { _ in true } ?? false) }
    return found
  }

  /// Copies the records of ``scan(from:_:)``.
  ///
  /// Complexity: linear in the size of the batch.
  ///
  /// - Throws: ``StoreError``, as ``scan(from:_:)``.
  public func copyRecords(from offset: Int?, to batch: inout RecordBatch) throws(StoreError) -> Int?
  {
    try scan(from: offset) { rowID, record in
      batch.append(rowID, record)
      return batch.isFull ? .pause : .next
    }
  }

  /// Writes no file.
  ///
  /// Complexity: constant time.
  public func compact(to new: NewClassFile) throws(StoreError) -> Bool { false }
}

extension StoreError {
  /// Returns the error for a key that is not a row ID.
  ///
  /// - Parameters:
  ///   - byteCount: The size of the key.
  ///   - location: The file, its class, and the place of the record.
  /// - Returns: An error with the code `damaged`.
  public static func notARowID(byteCount: Int, at location: Location) -> StoreError {
    StoreError(
      .damaged,
      "A key of \(byteCount) bytes is not a row ID: this is not a class file.", at: location)
  }

  /// Returns the error for a file with fewer or more records than it states.
  ///
  /// Rewriting such a file must not hide that it has lost records.
  ///
  /// - Parameters:
  ///   - count: The number of records found.
  ///   - expected: The number of records stated.
  ///   - location: The file and its class.
  /// - Returns: An error with the code `damaged`.
  public static func lostRecords(_ count: Int, of expected: Int, at location: Location)
    -> StoreError
  {
    StoreError(
      .damaged,
      "The file has \(count) records, and should have \(expected). Salvage the store.", at: location
    )
  }
}
