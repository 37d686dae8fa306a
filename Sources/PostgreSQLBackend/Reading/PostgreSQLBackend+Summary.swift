import Files
import Locks
public import StoreEngine

// The data that a store needs before it saves objects of a class with indexes.
extension PostgreSQLBackend {
  /// Selects the counts of tables, and the value of a key in each, in one statement, so that no
  /// commit comes in between.
  private static let summary = """
    select \(Schema.count), (
      select k.value from stored_objects.keys k where k.table_id = t.id
        and k.head = substring(n.key from 1 for \(Schema.keyHeadByteCount))
        and k.tail_hash = stored_objects.tail_hash(n.key))
    from unnest($2, $3, $4) with ordinality n(kind, name, key, place)
      left join stored_objects.tables t on t.store = $1 and t.kind = n.kind and t.name = n.name
    order by n.place
    """

  /// Returns counts and values as of one commit, copies records, and returns the keys in ranges, in
  /// one round trip.
  ///
  /// Complexity: linear in the number of tables, rows, ranges and keys and in the size of the
  /// records, with one round trip, and one more for each 1,024 rows after the first. In an encrypted
  /// store, the first call for a range of a table loads all its keys. A range without an end takes
  /// a scan of its own.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func summary(
    of table: TableID, _ ordered: [OrderedTableID], valuesOf key: [UInt8], copying rows: [UInt32],
    keysIn ranges: [(table: OrderedTableID, range: KeyRange)], to batch: inout RecordBatch
  ) throws(StoreError) -> TableSummary {
    try checkOpen()
    let first = rows.prefix(Self.rowCount)
    let parts = keyQueries(ranges)
    var statements = [try summaryStatement(table, ordered, key)]
    for part in parts { statements.append(try keysStatement(part, ranges)) }
    let request = RecordRequest(first, try self.key(of: table))
    if !first.isEmpty { statements.append(request.statement) }
    let results = try read(statements)
    var summary = try summary(results[0], ordered, key)
    if !first.isEmpty {
      try append(results[statements.count - 1], request, table, to: &batch)
      try copyRecords(Array(rows.dropFirst(first.count)), of: table, to: &batch)
    }
    summary.keys = Array(repeating: [], count: ranges.count)
    for (part, result) in zip(parts, results.dropFirst()) {
      try reading { () throws(ServerFailure) in try part.add(result, to: &summary.keys) }
    }
    try addOtherKeys(ranges, to: &summary.keys)
    return summary
  }

  // MARK: Keys

  /// The ranges of one table that are asked for by one statement.
  private struct KeyQuery {
    let table: OrderedTableID
    /// The places of the ranges among all of them.
    var places: [Int] = []

    /// Adds the keys in an answer to those of their ranges.
    func add(_ result: QueryResult, to keys: inout [[[UInt8]]]) throws(ServerFailure) {
      for row in 0..<result.rowCount {
        let place = Int(try result.number(row, 0)) - 1
        guard places.indices.contains(place) else { throw ServerFailure.unexpectedAnswer }
        keys[places[place]].append(result.bytes(row, 1))
      }
    }
  }

  /// Returns the queries for the ranges whose keys the server finds by its index.
  private func keyQueries(
    _ ranges: [(table: OrderedTableID, range: KeyRange)]
  ) -> [KeyQuery] {
    var queries: [KeyQuery] = []
    for (place, (table, range)) in ranges.enumerated() where isFound(table, range) {
      let known = queries.firstIndex { $0.table == table }
      if known == nil { queries.append(KeyQuery(table: table)) }
      queries[known ?? queries.count - 1].places.append(place)
    }
    return queries
  }

  private func isFound(_ table: OrderedTableID, _ range: KeyRange) -> Bool {
    range.to != nil && !range.isEmpty && isOrderedByServer(table, range)
  }

  private func keysStatement(
    _ query: KeyQuery, _ ranges: [(table: OrderedTableID, range: KeyRange)]
  ) throws(StoreError) -> Statement {
    let count = query.places.count
    var bounds = [Parameter.ByteArrays](repeating: .init(count: count), count: 4)
    for place in query.places {
      let range = ranges[place].range
      for (end, key) in [range.from, range.to ?? []].enumerated() {
        bounds[2 * end].append(key.prefix(Schema.keyHeadByteCount))
        bounds[2 * end + 1].append(key.dropFirst(Schema.keyHeadByteCount))
      }
    }
    return Statement(
      """
      select n.place, k.head || k.tail
      from unnest($4, $5, $6, $7) with ordinality n(from_head, from_tail, to_head, to_tail, place)
        join stored_objects.keys k on k.table_id = \(Self.tableID)
          and k.head >= n.from_head and (k.head, k.tail) >= (n.from_head, n.from_tail)
          and k.head <= n.to_head and (k.head, k.tail) < (n.to_head, n.to_tail)\(onlyOrderedKeys)
      order by n.place, k.head, k.tail
      """, try key(of: query.table) + bounds.map { .bytesArray($0) })
  }

  /// Adds the keys in the ranges that are in no query.
  private func addOtherKeys(
    _ ranges: [(table: OrderedTableID, range: KeyRange)], to found: inout [[[UInt8]]]
  ) throws(StoreError) {
    var known: [OrderedTableID: [[UInt8]]] = [:]
    for (place, (table, range)) in ranges.enumerated()
    where !range.isEmpty && !isFound(table, range) {
      guard let sealing, !isOrderedByServer(table, range) else {
        found[place] = try keys(of: table, range)
        continue
      }
      if known[table] == nil { known[table] = try knownKeys(of: table, sealing) }
      let all = known[table] ?? []
      found[place] = Array(all[all.indices(in: range)])
    }
  }

  /// Returns the keys of an encrypted table, in order, after an answer of the server.
  ///
  /// The answer has brought all commits, so keys that were loaded before are up to date.
  private func knownKeys(
    of table: OrderedTableID, _ sealing: ServerSealing
  ) throws(StoreError) -> [[UInt8]] {
    // While stores are notified, the news of an answer wait.
    if !isDelivering, let keys = sortedKeys.withLock({ $0.keys(of: table) }) { return keys }
    return try sealedKeys(of: table, sealing)
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
