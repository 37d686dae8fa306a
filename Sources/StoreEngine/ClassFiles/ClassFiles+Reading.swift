import Files

extension ClassFiles {
  /// Returns the number of rows in a table, including row 1; 0 for a table that was never saved.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func recordCount(in table: TableID) throws(StoreError) -> Int {
    try tables.file(table).file()?.recordCount ?? 0
  }

  /// Calls a closure with the record of a row, in place and without holding a lock.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, or an error of the closure.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try tables.file(table).file()?.withRecord(rowID, body)
  }

  /// Copies the record of a row.
  ///
  /// Complexity: constant time on average, and linear in the size of the record.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func copyRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try tables.file(table).file()?.copyRecord(rowID, to: &bytes) ?? false
  }

  /// Adds copies of the records of the given rows to a batch, all from one file.
  ///
  /// Complexity: linear in the number of rows and the size of their records.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func copyRecords(
    _ rows: [UInt32], of table: TableID, to batch: inout RecordBatch
  ) throws(StoreError) {
    try tables.file(table).file()?.copyRecords(rows, to: &batch)
  }

  /// Returns for each of the given rows whether the file of a table has a record.
  ///
  /// Complexity: linear in the number of rows, on average.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func hasRecords(_ rows: [UInt32], in table: TableID) throws(StoreError) -> [Bool] {
    try tables.file(table).file()?.hasRecords(rows) ?? rows.map { _ in false }
  }

  /// Calls a closure with the bytes of a named buffer, in place and without holding a lock.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`, or an error of the closure.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try tables.checkOpen()
    return try tables.buffers.file()?.withBuffer(name, body)
  }

  /// Copies a named buffer.
  ///
  /// Complexity: constant time on average, and linear in the size of the buffer.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func copyNamedBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool {
    try tables.checkOpen()
    return try tables.buffers.file()?.copyBuffer(name, to: &bytes) ?? false
  }

  /// Returns the names of all saved buffers, in no particular order.
  ///
  /// Complexity: linear in the size of the buffers' file.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func bufferNames() throws(StoreError) -> [String] {
    try tables.checkOpen()
    var names: [String] = []
    try tables.buffers.file()?.forEachKey { (key) throws(StoreError) in
      guard let name = String(validating: [UInt8](copying: key), as: UTF8.self) else {
        throw StoreError(
          .damaged, "The name of a buffer is not UTF-8.", at: .init(path: tables.buffers.path))
      }
      names.append(name)
    }
    return names
  }

  // MARK: Scans

  /// Calls a closure with the records of a table in the order of the file, without holding a lock.
  ///
  /// A call sees the table as it was at the beginning of the call.
  ///
  /// Complexity: linear in the scanned part of the file.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` (a key is not a row ID) or `closed`, or an
  ///   error of the closure.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    try goOn(table, from: position) { (file, offset) throws(StoreError) in
      try file.scan(from: offset, body)
    }
  }

  /// Copies the next records of a table into a batch, in the order of the file.
  ///
  /// Complexity: linear in the size of the batch.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` (a key is not a row ID) or `closed`.
  public func copyRecords(
    of table: TableID, from position: ScanPosition?, to batch: inout RecordBatch
  ) throws(StoreError) -> ScanEnd {
    try goOn(table, from: position) { (file, offset) throws(StoreError) in
      try file.copyRecords(from: offset, to: &batch)
    }
  }

  /// Continues a scan, unless the file has been replaced.
  private func goOn(
    _ table: TableID, from position: ScanPosition?,
    _ body: (any ClassFile, _ offset: Int?) throws(StoreError) -> Int?
  ) throws(StoreError) -> ScanEnd {
    let (file, generation) = try tables.file(table).current()
    if let position, position.generation != generation { return .disturbed }
    guard let file, let location = try body(file, position.map { Int(clamping: $0.location) })
    else {
      return .finished
    }
    return .paused(ScanPosition(location: UInt64(location), generation: generation))
  }
}
