import Files
public import StoreEngine

extension PostgreSQLBackend {
  /// Selects a page of a table; the page is omitted if the table has changed since commit `$7`.
  ///
  /// With an offset, the number of the last change isn't looked for again for each row.
  private static let page = """
    select g.number, p.found, p.row, p.data from stored_objects.tables t
      cross join lateral (select \(Schema.lastChange) as number offset 0) g
      left join lateral (
        select w.row, w.data, w.found from (
          select r.row, r.data, count(*) over () as found,
            sum(octet_length(r.data)) over (order by r.row) - octet_length(r.data) as before
          from (
            select row, data from stored_objects.records
            where table_id = t.id and row >= $4 order by row limit $5) r) w
        where w.before <= $6) p on $7 < 0 or g.number = $7
    where t.store = $1 and t.kind = $2 and t.name = $3 order by p.row
    """

  private func page(
    _ table: TableID, from row: UInt64, _ size: PageSize, generation: UInt64?
  ) throws(StoreError) -> Statement {
    Statement(
      Self.page,
      try key(of: table) + [.int(row)] + size.parameters
        + [generation.map { .int($0) } ?? .int(-1)],
      name: .page)
  }

  /// The records of one page.
  private struct Page {
    let result: QueryResult
    let generation: UInt64
    let count: Int
    let isLast: Bool

    init(_ result: QueryResult, _ size: PageSize) throws(ServerFailure) {
      self.result = result
      guard result.rowCount > 0 else {
        (generation, count, isLast) = (0, 0, true)
        return
      }
      generation = UInt64(clamping: try result.number(0, 0))
      let found = Int(result.int(0, 1) ?? 0)
      count = found == 0 ? 0 : result.rowCount
      isLast = size.isLast(count: count, found: found)
    }

    func row(_ index: Int) throws(ServerFailure) -> UInt32 {
      UInt32(clamping: try result.number(index, 2))
    }
  }

  /// Calls a closure with the records of a table in the order of their rows.
  ///
  /// All pages are of the same commit.
  ///
  /// Complexity: linear in the size of the records that are visited, with one round trip for each
  /// page of about 256 KiB.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`, or an error of the closure.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    try checkOpen()
    return try scan(table, from: position, PageSize()) { (rowID, stored) throws(StoreError) in
      try lendRecord(stored, rowID, table) { (record) throws(StoreError) in try body(rowID, record)
      }
    }
  }

  /// Copies the next records, in a page of the size of the batch.
  ///
  /// Complexity: linear in the size of the batch, usually in one round trip.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func copyRecords(
    of table: TableID, from position: ScanPosition?, to batch: inout RecordBatch
  ) throws(StoreError) -> ScanEnd {
    try checkOpen()
    let size = PageSize(rows: batch.limits.records, bytes: batch.limits.bytes)
    // One page needs no transaction of its own.
    let statement = try page(
      table, from: position?.location ?? 0, size, generation: position?.generation)
    let answer = try read(statement)
    let page = try reading { () throws(ServerFailure) in try Page(answer, size) }
    if let position, page.generation != position.generation { return .disturbed }
    let (_, next) = try visit(page) { (rowID, stored) throws(StoreError) in
      try append(stored, rowID, table, to: &batch)
      return .next
    }
    if page.isLast { return .finished }
    return .paused(ScanPosition(location: next, generation: page.generation))
  }

  private func scan(
    _ table: TableID, from position: ScanPosition?, _ size: PageSize,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    var size = size
    let first = try page(
      table, from: position?.location ?? 0, size, generation: position?.generation)
    let (transaction, results) = try beginReading([first])
    defer { transaction.end() }
    var page = try reading { () throws(ServerFailure) in try Page(results[0], size) }
    if let position, page.generation != position.generation { return .disturbed }
    while true {
      // The transaction need not stay open while closures process the last page.
      if page.isLast { transaction.end() }
      let (step, next) = try visit(page, body)
      if step == .pause {
        return .paused(ScanPosition(location: next, generation: page.generation))
      }
      if page.isLast { return .finished }
      size.grow()
      let result = try transaction.run(try self.page(table, from: next, size, generation: nil))
      page = try reading { () throws(ServerFailure) in try Page(result, size) }
    }
  }

  /// Calls a closure with the records of a page.
  ///
  /// - Returns: The last step, and the row ID after the last record that was visited.
  private func visit(
    _ page: Page, _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> (step: ScanStep, next: UInt64) {
    var next: UInt64 = 0
    for index in 0..<page.count {
      let row = try reading { () throws(ServerFailure) in try page.row(index) }
      next = UInt64(row) + 1
      let step = try page.result.withBytes(index, 3) { (record) throws(StoreError) in
        try body(row, record)
      }
      if step == .pause { return (.pause, next) }
    }
    return (.next, next)
  }
}
