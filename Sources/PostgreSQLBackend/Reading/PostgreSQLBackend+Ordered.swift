import Files
import Locks
public import StoreEngine

/// A key as an index has it: the part that is in the index, and the rest.
private struct SplitKey {
  let head: Parameter
  let tail: Parameter

  init(_ key: [UInt8]) {
    head = .bytes(Array(key.prefix(Schema.keyHeadByteCount)))
    tail = .bytes(Array(key.dropFirst(Schema.keyHeadByteCount)))
  }
}

extension PostgreSQLBackend {
  func key(of table: OrderedTableID) throws(StoreError) -> [Parameter] {
    let name = try serverName(of: table)
    let kind = Schema.TableKind(name.kind)
    return [.int4(storeID), .int2(kind.rawValue), .text(name.name)]
  }

  /// Returns the names of the ordered tables that have keys.
  ///
  /// Complexity: linear in the number of tables, in one round trip.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func orderedTableNames() throws(StoreError) -> [OrderedTableName] {
    let result = try read(
      Statement(
        """
        select kind, name from stored_objects.tables t
        where store = $1 and kind > 0 and \(Schema.count) > 0
        """,
        [.int4(storeID)]))
    return try reading { () throws(ServerFailure) in
      try (0..<result.rowCount).map { (row) throws(ServerFailure) in
        let name = OrderedTableName(result, row)
        return OrderedTableName(try opened(name.name), kind: name.kind)
      }
    }
  }

  /// The condition that leaves out the sealed keys of an encrypted store.
  ///
  /// The server orders only ranges of entries of a history. The other keys of that table are sealed,
  /// so any of them may begin with the first byte of an entry.
  var onlyOrderedKeys: String {
    sealing == nil ? "" : " and octet_length(head) = \(ServerHistory.entryKeyByteCount)"
  }

  /// Returns the condition of a range, and its parameters from `$4` on.
  private func condition(_ range: KeyRange) -> (text: String, parameters: [Parameter]) {
    var parameters: [Parameter] = []
    var text = "table_id = \(Self.tableID)" + onlyOrderedKeys
    if !range.from.isEmpty {
      let from = SplitKey(range.from)
      text += " and head >= $4 and (head, tail) >= ($4, $5)"
      parameters += [from.head, from.tail]
    }
    if let to = range.to.map(SplitKey.init) {
      let number = 4 + parameters.count
      text += " and head <= $\(number) and (head, tail) < ($\(number), $\(number + 1))"
      parameters += [to.head, to.tail]
    }
    return (text, parameters)
  }

  /// Returns the number of keys in a range.
  ///
  /// Complexity: constant time for all keys, otherwise linear in the number of keys in the range,
  /// in one round trip. In an encrypted store it is O(log n), except for the first call, which
  /// loads all keys of the table and sorts them.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int {
    try checkOpen()
    if range.isEmpty { return 0 }
    if range.from.isEmpty, range.to == nil { return try keyCount(in: table) }
    if let sealing, !isOrderedByServer(table, range) {
      return try sealedKeys(of: table, sealing).indices(in: range).count
    }
    let condition = condition(range)
    let result = try read(
      Statement(
        "select count(*) from stored_objects.keys where \(condition.text)",
        try key(of: table) + condition.parameters))
    return Int(try reading { () throws(ServerFailure) in try result.number(0, 0) })
  }

  private func keyCount(in table: OrderedTableID) throws(StoreError) -> Int {
    // Each save asks about tables that are almost always empty, and its basis includes the answer.
    let (isEmpty, number) = empty.withLock { ($0.tables.contains(table), $0.number) }
    if isEmpty, coordinator.hasTurn { return 0 }
    let count = try count(try key(of: table))
    if count == 0 { empty.withLock { $0.add(table, asOf: number) } }
    return count
  }

  /// Calls a closure with the value of a key, in the memory of the answer.
  ///
  /// Complexity: linear in the size of the value, in one round trip.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`, or an error of the closure.
  public func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try checkOpen()
    let (isKnown, number) = isKnownToFollowNone(table)
    if isKnown { return nil }
    let stored = try serverKey(key, of: table)
    let result = try read(
      Statement(
        """
        select value from stored_objects.keys where table_id = \(Self.tableID)
          and head = $4 and tail_hash = stored_objects.tail_hash($5)
        """, try self.key(of: table) + [SplitKey(stored).head, .bytes(stored)]))
    if result.rowCount == 0 {
      noteNoValue(table, asOf: number)
      return nil
    }
    return try result.withBytes(0, 0) { (value) throws(StoreError) in
      guard let sealing else { return try body(value) }
      return try sealing.open(value, ofKey: key, in: name(of: table)).lend(body)
    }
  }

  private func page(
    _ table: OrderedTableID, _ range: KeyRange, isReversed: Bool, _ size: PageSize
  ) throws(StoreError) -> Statement {
    let condition = condition(range)
    let order = isReversed ? "head desc, tail desc" : "head, tail"
    let number = 4 + condition.parameters.count
    return Statement(
      """
      select w.found, w.head || w.tail, w.value from (
        select k.head, k.tail, k.value, count(*) over () as found,
          sum(k.size) over (order by \(order)) - k.size as before
        from (
          select head, tail, value,
            octet_length(head) + octet_length(tail) + octet_length(value) as size
          from stored_objects.keys where \(condition.text)
          order by \(order) limit $\(number)) k) w
      where w.before <= $\(number + 1) order by \(order)
      """, try key(of: table) + condition.parameters + size.parameters)
  }

  /// Calls a closure with keys and values, as of the beginning of the call.
  ///
  /// Complexity: linear in the size of the keys and values that are visited, with one round trip
  /// for each page of about 256 KiB. In an encrypted store, the first call also loads all keys of
  /// the table and sorts them.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`, or an error of the closure.
  public func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try checkOpen()
    var (range, size) = (range, PageSize())
    if range.isEmpty { return true }
    if let sealing, !isOrderedByServer(table, range) {
      return try scanSealedKeys(of: table, range, isReversed: isReversed, sealing, body)
    }
    let (transaction, results) = try beginReading([
      try page(table, range, isReversed: isReversed, size)
    ])
    defer { transaction.end() }
    var result = results[0]
    while true {
      let found = result.rowCount == 0 ? 0 : Int(result.int(0, 0) ?? 0)
      let isLast = size.isLast(count: result.rowCount, found: found)
      if isLast { transaction.end() }
      for index in 0..<result.rowCount where try lend(result, index, of: table, body) == .pause {
        return false
      }
      if isLast { return true }
      let last = result.bytes(result.rowCount - 1, 1)
      if isReversed { range.to = last } else { range = KeyRange(after: last, to: range.to) }
      size.grow()
      result = try transaction.run(try page(table, range, isReversed: isReversed, size))
    }
  }

  private func lend(
    _ result: QueryResult, _ index: Int, of table: OrderedTableID,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanStep {
    try result.withBytes(index, 1) { (key) throws(StoreError) in
      try result.withBytes(index, 2) { (value) throws(StoreError) in
        guard let sealing else { return try body(key, value) }
        let opened = try sealing.open(value, ofKey: [UInt8](copying: key), in: name(of: table))
        return try opened.lend { (value) throws(StoreError) in try body(key, value) }
      }
    }
  }
}

extension Schema.TableKind {
  /// Returns the kind of an ordered table.
  init(_ kind: OrderedTableName.Kind) { self = kind == .data ? .data : .index }
}

extension OrderedTableName {
  /// Creates the name of a table from the number of its kind.
  init(_ name: String, number: Int) {
    self.init(name, kind: number == Int(Schema.TableKind.data.rawValue) ? .data : .index)
  }

  /// Reads the kind and the name, which are the first columns of a row.
  init(_ result: QueryResult, _ row: Int) {
    self.init(result.text(row, 1), number: Int(result.int(row, 0) ?? 0))
  }
}
