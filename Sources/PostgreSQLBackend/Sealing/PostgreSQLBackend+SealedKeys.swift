import Files
import Locks
import StoreEngine

// Ranges of keys of an encrypted store.
extension PostgreSQLBackend {
  /// The number of attempts of a scan while others commit.
  private static let attemptCount = 3
  /// The initial and the maximum number of values per request.
  private static let (firstCount, mostCount) = (64, 2048)
  /// The approximate number of bytes of values per request.
  private static let pageByteCount = 256 << 10

  /// Returns the keys of a table, in order.
  func sealedKeys(
    of table: OrderedTableID, _ sealing: ServerSealing
  ) throws(StoreError) -> [[UInt8]] {
    let (transaction, keys) = try beginReadingKeys(of: table, sealing)
    transaction.end()
    return keys
  }

  /// Calls a closure with keys and values, as of the beginning of the call.
  func scanSealedKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool, _ sealing: ServerSealing,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    let name = name(of: table)
    let (transaction, all) = try beginReadingKeys(of: table, sealing)
    defer { transaction.end() }
    var (rest, count) = (all[all.indices(in: range)], Self.firstCount)
    while !rest.isEmpty {
      let part = Array(
        isReversed ? rest.suffix(count).reversed() : Array(rest.prefix(count)))
      rest = isReversed ? rest.dropLast(part.count) : rest.dropFirst(part.count)
      let sealed = try part.map { (key) throws(StoreError) in
        try sealing.key(key, of: name)
      }
      let values = try transaction.run(valuesStatement(sealed, of: table))
      if rest.isEmpty { transaction.end() }
      var byteCount = 0
      for (index, key) in part.enumerated() {
        guard index < values.rowCount, !values.isNull(index, 0) else {
          throw ServerFailure.unexpectedAnswer.error(at: location)
        }
        let value = try values.withBytes(index, 0) { (value) throws(StoreError) in
          try sealing.open(value, ofKey: key, in: name)
        }
        byteCount += value.count + key.count
        let step = try key.lend { (key) throws(StoreError) in
          try value.lend { (value) throws(StoreError) in try body(key, value) }
        }
        if step == .pause { return false }
      }
      // As many as fit a page, if the next ones have the same size.
      count = max(1, min(Self.mostCount, Self.pageByteCount * part.count / max(byteCount, 1)))
    }
    return true
  }

  private func valuesStatement(
    _ keys: [[UInt8]], of table: OrderedTableID
  ) throws(StoreError) -> Statement {
    var array = Parameter.ByteArrays(count: keys.count)
    for key in keys { array.append(key) }
    return Statement(
      """
      select k.value from unnest($4) with ordinality n(key, place)
        left join stored_objects.keys k on k.table_id = \(Self.tableID)
          and k.head = substring(n.key from 1 for \(Schema.keyHeadByteCount))
          and k.tail_hash = stored_objects.tail_hash(n.key)
      order by n.place
      """, try key(of: table) + [.bytesArray(array)])
  }

  /// Begins a transaction, and returns the keys of a table in it, in order.
  private func beginReadingKeys(
    of table: OrderedTableID, _ sealing: ServerSealing
  ) throws(StoreError) -> (ReadTransaction, [[UInt8]]) {
    let lastNumber = Statement(
      "select \(Schema.lastCommit) from stored_objects.stores s where s.id = $1",
      [.int4(storeID)])
    var attemptsLeft = Self.attemptCount
    while true {
      attemptsLeft -= 1
      let (transaction, results) = try beginReading([lastNumber])
      let number = UInt64(
        clamping: try reading { () throws(ServerFailure) in try results[0].number(0, 0) })
      let (keys, known) = sortedKeys.withLock { ($0.keys(of: table), $0.number) }
      if let keys, known == number { return (transaction, keys) }
      if keys != nil, attemptsLeft > 0 {
        // Others have committed after the transaction began, so it begins again.
        transaction.end()
        continue
      }
      let loaded = try loadKeys(of: table, transaction, sealing)
      // The news of a commit does not include the entry that it adds to the history.
      if !isHistory(table) {
        sortedKeys.withLock { $0.set(loaded, of: table, asOf: number) }
        held?.didLoad(loaded, of: name(of: table))
      }
      return (transaction, loaded)
    }
  }

  private func loadKeys(
    of table: OrderedTableID, _ transaction: ReadTransaction, _ sealing: ServerSealing
  ) throws(StoreError) -> [[UInt8]] {
    let result = try transaction.run(
      Statement(
        "select head || tail from stored_objects.keys where table_id = \(Self.tableID)",
        try key(of: table)))
    let name = name(of: table)
    var keys: [[UInt8]] = []
    keys.reserveCapacity(result.rowCount)
    for index in 0..<result.rowCount {
      keys.append(try sealing.open(result.bytes(index, 0), of: name))
    }
    keys.sort { $0.lexicographicallyPrecedes($1) }
    return keys
  }
}
