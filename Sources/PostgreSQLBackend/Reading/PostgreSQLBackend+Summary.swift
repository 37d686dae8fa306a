import Files
public import StoreEngine

// The data that a store needs before it saves objects of a class with indexes.
extension PostgreSQLBackend {
  /// Selects the counts of tables, and the value of a key in each, in one statement, so that no
  /// commit comes in between.
  private static let summary = """
    select t.count, (
      select k.value from stored_objects.keys k where k.table_id = t.id
        and k.head = substring(n.key from 1 for \(Schema.keyHeadByteCount))
        and k.tail_hash = stored_objects.tail_hash(n.key))
    from unnest($2, $3, $4) with ordinality n(kind, name, key, place)
      left join stored_objects.tables t on t.store = $1 and t.kind = n.kind and t.name = n.name
    order by n.place
    """

  /// Returns counts and values as of one commit, and copies records, in one round trip.
  ///
  /// Complexity: linear in the number of tables and rows and in the size of the records, with one
  /// round trip, and one more for each 1,024 rows after the first.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func summary(
    of table: TableID, _ ordered: [OrderedTableID], valuesOf key: [UInt8], copying rows: [UInt32],
    to batch: inout RecordBatch
  ) throws(StoreError) -> TableSummary {
    try pool.check()
    let first = rows.prefix(Self.rowCount)
    var statements = [try summaryStatement(table, ordered, key)]
    if !first.isEmpty { statements.append(try recordsStatement(first, table)) }
    let results = try read(statements)
    let summary = try summary(results[0], ordered, key)
    if first.isEmpty { return summary }
    try append(results[1], table, to: &batch)
    try copyRecords(Array(rows.dropFirst(first.count)), of: table, to: &batch)
    return summary
  }

  /// Returns the statement for a table of records, which comes first, and ordered tables.
  private func summaryStatement(
    _ table: TableID, _ ordered: [OrderedTableID], _ key: [UInt8]
  ) throws(StoreError) -> Statement {
    let names = try ordered.map { (table) throws(StoreError) in try serverName(of: table) }
    var keys = Parameter.ByteArrays(count: ordered.count + 1)
    keys.appendNull()
    for table in ordered { keys.append(try serverKey(key, of: table)) }
    let kinds = [.records] + names.map { Schema.TableKind($0.kind) }
    return Statement(
      Self.summary,
      [
        .int4(storeID), .int2s(kinds.map(\.rawValue)),
        .texts([try serverName(of: table)] + names.map(\.name)), .bytesArray(keys),
      ])
  }

  private func summary(
    _ result: QueryResult, _ ordered: [OrderedTableID], _ key: [UInt8]
  ) throws(StoreError) -> TableSummary {
    guard result.rowCount == ordered.count + 1 else {
      throw ServerFailure.unexpectedAnswer.error(at: location)
    }
    var summary = TableSummary(recordCount: Int(result.int(0, 0) ?? 0), ordered: [])
    for (row, table) in zip(1..., ordered) {
      let value = try value(result, row, key, of: table)
      summary.ordered.append(.init(keyCount: Int(result.int(row, 0) ?? 0), value: value))
    }
    return summary
  }

  /// Returns the value of a key, the second field of a row; nil for NULL.
  private func value(
    _ result: QueryResult, _ row: Int, _ key: [UInt8], of table: OrderedTableID
  ) throws(StoreError) -> [UInt8]? {
    if result.isNull(row, 1) { return nil }
    return try result.withBytes(row, 1) { (value) throws(StoreError) in
      guard let sealing else { return [UInt8](copying: value) }
      return try sealing.open(value, ofKey: key, in: name(of: table))
    }
  }
}
