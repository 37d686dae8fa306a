import Files
public import StoreEngine

extension PostgreSQLBackend {
  /// Returns the parameters by which statements find a table: `$1` to `$3`.
  func key(of table: TableID) throws(StoreError) -> [Parameter] {
    [.int4(storeID), .int2(Schema.TableKind.records.rawValue), .text(try serverName(of: table))]
  }

  /// An expression for the number of a table in the server.
  static let tableID = """
    (select id from stored_objects.tables where store = $1 and kind = $2 and name = $3)
    """
  /// The number of rows that are requested at a time.
  static let rowCount = 1024

  /// Returns the names of the tables that have records.
  ///
  /// Complexity: linear in the number of tables, in one round trip.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func tableNames() throws(StoreError) -> [String] {
    let result = try read(
      Statement(
        """
        select name from stored_objects.tables t
        where store = $1 and kind = 0 and \(Schema.count) > 0
        """,
        [.int4(storeID)]))
    return try names(result)
  }

  private func names(_ result: QueryResult) throws(StoreError) -> [String] {
    try reading { () throws(ServerFailure) in
      try (0..<result.rowCount).map { (row) throws(ServerFailure) in
        try opened(result.text(row, 0))
      }
    }
  }

  /// Returns the number of rows in a table.
  ///
  /// Complexity: one round trip; the server stores the number.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func recordCount(in table: TableID) throws(StoreError) -> Int {
    try checkOpen()
    return try count(key(of: table))
  }

  /// Returns the stored number of rows or keys.
  func count(_ key: [Parameter]) throws(StoreError) -> Int {
    let result = try read(
      Statement(
        """
        select \(Schema.count) from stored_objects.tables t
        where store = $1 and kind = $2 and name = $3
        """, key)
    )
    if result.rowCount == 0 { return 0 }
    return Int(try reading { () throws(ServerFailure) in try result.number(0, 0) })
  }

  /// Calls a closure with the record of a row, in the memory of the answer.
  ///
  /// Complexity: linear in the size of the record, in one round trip.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`, or an error of the closure.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try checkOpen()
    if let held, rowID == ClassMetadata.rowID {
      return try held.head.metadata[name(of: table)]?.lend(body)
    }
    let result = try read(
      Statement(
        "select data from stored_objects.records where table_id = \(Self.tableID) and row = $4",
        try key(of: table) + [.int(Int(rowID))], name: .record))
    if result.rowCount == 0 { return nil }
    return try result.withBytes(0, 0) { (record) throws(StoreError) in
      try lendRecord(record, rowID, table, body)
    }
  }

  /// Adds copies of the records of some rows, in their order.
  ///
  /// Complexity: linear in the number of rows and the size of their records, with one round trip
  /// for 1,024 rows.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func copyRecords(
    _ rows: [UInt32], of table: TableID, to batch: inout RecordBatch
  ) throws(StoreError) {
    try checkOpen()
    var rest = rows[...]
    while !rest.isEmpty, !(batch.stopsWhenFull && batch.isFull) {
      let part = rest.prefix(Self.rowCount)
      rest = rest.dropFirst(part.count)
      let request = RecordRequest(
        part, try key(of: table), readsAhead: batch.stopsWhenFull)
      try append(try read(request.statement), request, table, to: &batch)
    }
  }

  func append(
    _ answer: QueryResult, _ request: RecordRequest, _ table: TableID, to batch: inout RecordBatch
  ) throws(StoreError) {
    let found = try reading { () throws(ServerFailure) in try request.places(in: answer) }
    for (rowID, place) in found {
      if batch.stopsWhenFull, batch.isFull { return }
      try answer.withBytes(place, 1) { (record) throws(StoreError) in
        try append(record, rowID, table, to: &batch)
      }
    }
  }

  /// Adds a copy of a record.
  ///
  /// If opening it fails and the batch keeps failures, the error is added instead.
  func append(
    _ record: RawSpan, _ rowID: UInt32, _ table: TableID, to batch: inout RecordBatch
  ) throws(StoreError) {
    do {
      try lendRecord(record, rowID, table) { batch.append(rowID, $0) }
    } catch  where batch.keepsFailures {
      batch.failures.append(error)
    }
  }

  // MARK: Named buffers

  /// Calls a closure with the buffer of a name, in the memory of the answer.
  ///
  /// Complexity: linear in the size of the buffer, in one round trip.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`, or an error of the closure.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if let known = held?.head.buffers[name] {
      try checkOpen()
      return try known?.lend(body)
    }
    let key = try serverName(ofBuffer: name)
    let result = try read(
      Statement(
        "select data from stored_objects.buffers where store = $1 and name_hash = sha256($2)",
        [.int4(storeID), .bytes(Array(key.utf8))]))
    if result.rowCount == 0 { return nil }
    return try result.withBytes(0, 0) { (stored) throws(StoreError) in
      guard let sealing else { return try body(stored) }
      return try sealing.open(stored, ofBuffer: key).lend(body)
    }
  }

  /// Returns the names of all buffers.
  ///
  /// Complexity: linear in the number of buffers, in one round trip.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func bufferNames() throws(StoreError) -> [String] {
    let result = try read(
      Statement("select name from stored_objects.buffers where store = $1", [.int4(storeID)]))
    return try names(result)
  }
}
