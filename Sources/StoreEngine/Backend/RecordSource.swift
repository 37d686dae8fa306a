import Files

/// Tables of rows and named buffers for reading, which is common to backends and their files.
///
/// A table holds the records of one class under row IDs (`UInt32`, from 1). Closures get bytes in
/// place, without a copy. The bytes are valid only inside the closure, and the closure must not
/// call the source.
public protocol RecordSource: AnyObject, Sendable {
  /// The location of the records in terms of the user: a path, or "memory".
  var location: String { get }

  /// Whether the records are open for reading only.
  var isReadOnly: Bool { get }

  /// Returns the number of a table, which need not exist: the first commit creates it.
  ///
  /// Complexity: linear in the number of tables. The first call of a backend on files opens the file.
  ///
  /// - Throws: ``StoreError`` with `invalidName` if the backend can't hold a table of that name, or
  ///   with `inUse`, `damaged`, `ioError` or `closed`.
  func table(named name: String) throws(StoreError) -> TableID

  /// Returns the names of the tables that have records, in no order.
  ///
  /// Complexity: linear in the number of tables. A backend on files also reads the names in the
  /// directory, and opens files that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func tableNames() throws(StoreError) -> [String]

  /// Returns the number of rows in a table, including row 1; 0 for a table that was never written.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func recordCount(in table: TableID) throws(StoreError) -> Int

  /// Calls a closure with the record of a row.
  ///
  /// Complexity: constant time on average; one round trip to a server. In an encrypted store,
  /// linear in the size of the record, which is opened.
  ///
  /// - Returns: The result of the closure, or nil if the row does not exist.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, or an error of the closure.
  func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of the record of a row to bytes.
  ///
  /// The default implementation calls ``withRecord(_:in:_:)``; a backend implements it where that
  /// is faster.
  ///
  /// Complexity: linear in the size of the record, on average.
  ///
  /// - Returns: Whether the row exists.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool

  /// Adds copies of the records of some rows to a batch, in the order of the rows; rows that don't
  /// exist are skipped.
  ///
  /// The default implementation calls ``copyRecord(_:in:to:)``. A backend on a server sends one
  /// request.
  ///
  /// Complexity: linear in the number of rows and the size of their records, on average.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyRecords(
    _ rows: [UInt32], of table: TableID, to batch: inout RecordBatch
  ) throws(StoreError)

  /// Copies the next records of a scan into a batch until it is full.
  ///
  /// The default implementation calls ``scan(_:from:_:)``, whose guarantees apply here; a backend
  /// implements it where that is faster.
  ///
  /// Complexity: linear in the size of the batch.
  ///
  /// - Returns: How the scan ended. If it was disturbed, nothing has been added to the batch.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyRecords(
    of table: TableID, from position: ScanPosition?, to batch: inout RecordBatch
  ) throws(StoreError) -> ScanEnd

  /// Calls a closure once with each record of a table, including row 1, in the order that is best
  /// for the backend.
  ///
  /// A scan holds no lock and no memory between two calls. Scans may be nested and abandoned, and
  /// commits may occur between them.
  ///
  /// Complexity: linear in the size of the records that are visited.
  ///
  /// - Parameters:
  ///   - table: The table to read.
  ///   - position: The position to continue from; nil for the beginning.
  ///   - body: Called with each row ID and its record.
  /// - Returns: How the scan ended. If a commit has touched the table since the position was taken,
  ///   the result is ``ScanEnd/disturbed``, and the body has not been called.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, or an error of the closure.
  func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd

  /// Calls a closure with the buffer that is saved under a name.
  ///
  /// Complexity: constant time on average; one round trip to a server. In an encrypted store,
  /// linear in the size of the buffer, which is opened.
  ///
  /// - Returns: The result of the closure, or nil if the name does not exist.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, or an error of the closure.
  func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of the buffer that is saved under a name to bytes.
  ///
  /// The default implementation calls ``withNamedBuffer(_:_:)``; a backend implements it where that
  /// is faster.
  ///
  /// Complexity: linear in the size of the buffer, on average.
  ///
  /// - Returns: Whether the name exists.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyNamedBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool

  /// Returns the names of all saved buffers, in no order.
  ///
  /// Complexity: linear in the number of buffers. A backend on files reads the whole file of the
  /// buffers.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func bufferNames() throws(StoreError) -> [String]

  /// Releases files and locks. Closing twice has no effect.
  ///
  /// Complexity: linear in the number of files. A backend on files may fold its log first.
  ///
  /// - Throws: ``StoreError`` with `ioError` if the last bytes could not be written.
  func close() throws(StoreError)
}

extension RecordSource {
  /// Copies the record that ``withRecord(_:in:_:)`` passes to a closure.
  ///
  /// Complexity: as ``withRecord(_:in:_:)``, and linear in the size of the record.
  ///
  /// - Throws: ``StoreError``, as ``withRecord(_:in:_:)``.
  public func copyRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try withRecord(rowID, in: table) { bytes.append(copying: $0) } != nil
  }

  /// Copies the buffer that ``withNamedBuffer(_:_:)`` passes to a closure.
  ///
  /// Complexity: as ``withNamedBuffer(_:_:)``, and linear in the size of the buffer.
  ///
  /// - Throws: ``StoreError``, as ``withNamedBuffer(_:_:)``.
  public func copyNamedBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool {
    try withNamedBuffer(name) { bytes.append(copying: $0) } != nil
  }

  /// Copies one record after another.
  ///
  /// Complexity: as ``copyRecord(_:in:to:)`` for each row.
  ///
  /// - Throws: ``StoreError``, as ``copyRecord(_:in:to:)``.
  public func copyRecords(
    _ rows: [UInt32], of table: TableID, to batch: inout RecordBatch
  ) throws(StoreError) {
    try batch.append(rows) { (row, bytes) throws(StoreError) in
      try copyRecord(row, in: table, to: &bytes)
    }
  }

  /// Copies the records that ``scan(_:from:_:)`` passes to a closure.
  ///
  /// Complexity: linear in the size of the batch.
  ///
  /// - Throws: ``StoreError``, as ``scan(_:from:_:)``.
  public func copyRecords(
    of table: TableID, from position: ScanPosition?, to batch: inout RecordBatch
  ) throws(StoreError) -> ScanEnd {
    try scan(table, from: position) { rowID, record in
      batch.append(rowID, record)
      return batch.isFull ? .pause : .next
    }
  }
}
