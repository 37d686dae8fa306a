import Files

/// A class file that is open for reading.
///
/// It stays the file that had the name when it was opened, also when another one takes its place.
/// The keys of the records are row IDs, or the names of named buffers in UTF-8.
///
/// Safe on any threads: it is never written to.
public protocol ClassFile: AnyObject, Sendable {
  /// The number of records.
  ///
  /// Complexity: constant time.
  var recordCount: Int { get }

  /// The size in bytes.
  var byteCount: Int { get }

  /// Lends the record of a row to a closure, which runs under no lock.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Returns: What the closure returns, or nil when there is no such row.
  /// - Throws: ``StoreError`` with `damaged` or `ioError`, and what the closure throws.
  func withRecord<Result>(
    _ rowID: UInt32, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of the record of a row to bytes.
  ///
  /// Complexity: constant time on average, and linear in the size of the record.
  ///
  /// - Returns: Whether there is such a row.
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func copyRecord(_ rowID: UInt32, to bytes: inout [UInt8]) throws(StoreError) -> Bool

  /// Adds copies of the records of some rows to a batch, in the order of the rows; those that are
  /// not there are left out. By default through ``copyRecord(_:to:)``.
  ///
  /// Complexity: linear in the number of rows and the size of their records.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func copyRecords(_ rows: [UInt32], to batch: inout RecordBatch) throws(StoreError)

  /// Returns which rows have a record, in the order of the rows; by default through
  /// ``withRecord(_:_:)``.
  ///
  /// Complexity: linear in the number of rows, on average.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func hasRecords(_ rows: [UInt32]) throws(StoreError) -> [Bool]

  /// Lends the buffer of a name to a closure, which runs under no lock.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Returns: What the closure returns, or nil when there is no such name.
  /// - Throws: ``StoreError`` with `damaged` or `ioError`, and what the closure throws.
  func withBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of the buffer of a name to bytes; by default through ``withBuffer(_:_:)``.
  ///
  /// Complexity: constant time on average, and linear in the size of the buffer.
  ///
  /// - Returns: Whether there is such a name.
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func copyBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool

  /// Lends the keys in the order of the file.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`, and what the closure throws.
  func forEachKey(_ body: (RawSpan) throws(StoreError) -> Void) throws(StoreError)

  /// Lends the records in the order of the file, until the closure pauses.
  ///
  /// Complexity: linear in the part of the file that is scanned.
  ///
  /// - Parameters:
  ///   - offset: Where to go on; nil is the beginning.
  ///   - body: Gets each row ID and its record.
  /// - Returns: Where to go on, or nil at the end.
  /// - Throws: ``StoreError`` with `damaged` (a key that is no row ID) or `ioError`, and what the
  ///   closure throws.
  func scan(
    from offset: Int?, _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Int?

  /// Copies the next records into a batch until it is full; by default through
  /// ``scan(from:_:)``.
  ///
  /// Complexity: linear in the size of the batch.
  ///
  /// - Returns: Where to go on, or nil at the end.
  /// - Throws: ``StoreError`` with `damaged` (a key that is no row ID) or `ioError`.
  func copyRecords(from offset: Int?, to batch: inout RecordBatch) throws(StoreError) -> Int?

  /// Makes a new file of the records with changes, in place of one of its name.
  ///
  /// - Throws: ``StoreError`` with `rowExists`, `noSpace`, `damaged` or `ioError`.
  func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError)

  /// Makes a new file without gaps; false, as by default, when that would not make it smaller.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `damaged` or `ioError`.
  func compact(to new: NewClassFile) throws(StoreError) -> Bool
}

extension ClassFile {
  /// Copies what is lent.
  public func copyBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool {
    try withBuffer(name) { bytes.append(copying: $0) } != nil
  }

  /// Copies one record after the other.
  public func copyRecords(_ rows: [UInt32], to batch: inout RecordBatch) throws(StoreError) {
    try batch.append(rows) { (row, bytes) throws(StoreError) in try copyRecord(row, to: &bytes) }
  }

  /// Looks up one row after the other.
  public func hasRecords(_ rows: [UInt32]) throws(StoreError) -> [Bool] {
    var found: [Bool] = []
    found.reserveCapacity(rows.count)
    for row in rows { found.append(try withRecord(row) { _ in true } ?? false) }
    return found
  }

  /// Copies what is lent.
  public func copyRecords(from offset: Int?, to batch: inout RecordBatch) throws(StoreError) -> Int?
  {
    try scan(from: offset) { rowID, record in
      batch.append(rowID, record)
      return batch.isFull ? .pause : .next
    }
  }

  /// Makes no file.
  public func compact(to new: NewClassFile) throws(StoreError) -> Bool { false }
}

extension StoreError {
  /// The error of a key that is no row ID.
  ///
  /// - Parameters:
  ///   - byteCount: The size of the key.
  ///   - location: The file, its class, and where the record is.
  /// - Returns: An error with the code `damaged`.
  public static func notARowID(byteCount: Int, at location: Location) -> StoreError {
    StoreError(
      .damaged,
      "A key of \(byteCount) bytes is no row ID: this is not the file of a class.", at: location)
  }

  /// The error of a file that has fewer or more records than it says.
  ///
  /// A new file must not make good that an old one has lost records.
  ///
  /// - Parameters:
  ///   - count: How many were found.
  ///   - expected: How many there should be.
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
