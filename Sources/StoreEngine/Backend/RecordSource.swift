import Files

/// Tables of rows and named buffers, as they can be read: what backends and their files have in
/// common.
///
/// A table holds the records of one class under row IDs (`UInt32`, from 1). Bytes are lent: they
/// are read where they are, valid only inside the closure, and the closure must not call back.
public protocol RecordSource: AnyObject, Sendable {
  /// Where the records are, as a user would name it: a path, or "memory".
  var location: String { get }

  /// Whether they are open for reading only.
  var isReadOnly: Bool { get }

  /// The number of a table. The table need not exist yet: the first commit makes it.
  ///
  /// - Throws: ``StoreError`` with `invalidName`, when the backend can't hold a table of that name,
  ///   `inUse`, `damaged`, `ioError` or `closed`.
  func table(named name: String) throws(StoreError) -> TableID

  /// The names of the tables that have records, in no order.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func tableNames() throws(StoreError) -> [String]

  /// The number of rows in a table, row 1 included; 0 for a table that was never written.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func recordCount(in table: TableID) throws(StoreError) -> Int

  /// Lends the record of a row to a closure.
  ///
  /// - Returns: what the closure returns, or nil when there is no such row.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, and what the closure throws.
  func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of the record of a row to bytes.
  ///
  /// By default through ``withRecord(_:in:_:)``; a backend does it itself where that is faster.
  ///
  /// - Returns: whether there is such a row.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool

  /// Adds copies of the records of some rows to a batch, in the order of the rows; those that are
  /// not there are left out.
  ///
  /// By default through ``copyRecord(_:in:to:)``. A backend that asks a server asks once.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyRecords(
    _ rows: [UInt32], of table: TableID, to batch: inout RecordBatch
  ) throws(StoreError)

  /// Copies the next records of a scan into a batch until it is full.
  ///
  /// By default through ``scan(_:from:_:)``, whose promises hold here; a backend does it itself
  /// where that is faster.
  ///
  /// - Returns: How the scan ended; nothing has been added to the batch when it was disturbed.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyRecords(
    of table: TableID, from position: ScanPosition?, to batch: inout RecordBatch
  ) throws(StoreError) -> ScanEnd

  /// Lends the records of a table, row 1 included, each once, in whatever order suits the backend.
  ///
  /// A scan holds no lock and no memory between two calls, so that scans may nest, be abandoned,
  /// and have commits between them.
  ///
  /// - Parameters:
  ///   - table: The table to read.
  ///   - position: Where to go on; nil is the beginning.
  ///   - body: Gets each row ID and its record.
  /// - Returns: How the scan ended. With a position from before a commit that touched the table it
  ///   is ``ScanEnd/disturbed``, and the body has not been called.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, and what the closure throws.
  func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd

  /// Lends the buffer that is saved under a name.
  ///
  /// - Returns: what the closure returns, or nil when there is no such name.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, and what the closure throws.
  func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result?

  /// Appends a copy of the buffer that is saved under a name to bytes.
  ///
  /// By default through ``withNamedBuffer(_:_:)``; a backend does it itself where that is faster.
  ///
  /// - Returns: whether there is such a name.
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func copyNamedBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool

  /// The names of all saved buffers, in no order.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func bufferNames() throws(StoreError) -> [String]

  /// Releases files and locks. Closing twice is harmless.
  ///
  /// - Throws: ``StoreError`` with `ioError`, when the last bytes could not be written.
  func close() throws(StoreError)
}

extension RecordSource {
  /// Copies what is lent.
  public func copyRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try withRecord(rowID, in: table) { bytes.append(copying: $0) } != nil
  }

  /// Copies what is lent.
  public func copyNamedBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool {
    try withNamedBuffer(name) { bytes.append(copying: $0) } != nil
  }

  /// Copies one record after the other.
  public func copyRecords(
    _ rows: [UInt32], of table: TableID, to batch: inout RecordBatch
  ) throws(StoreError) {
    try batch.append(rows) { (row, bytes) throws(StoreError) in
      try copyRecord(row, in: table, to: &bytes)
    }
  }

  /// Copies what is lent.
  public func copyRecords(
    of table: TableID, from position: ScanPosition?, to batch: inout RecordBatch
  ) throws(StoreError) -> ScanEnd {
    try scan(table, from: position) { rowID, record in
      batch.append(rowID, record)
      return batch.isFull ? .pause : .next
    }
  }
}
