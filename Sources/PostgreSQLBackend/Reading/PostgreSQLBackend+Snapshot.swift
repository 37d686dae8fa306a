import Files
import Locks
public import StoreEngine

extension PostgreSQLBackend {
  /// Copies the data of the last commit to memory, in one round trip.
  ///
  /// External values remain on the server.
  ///
  /// Complexity: linear in the size of all records, in time and memory.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func snapshot() throws(StoreError) -> any StoreBackend { try copy(asOf: nil) }

  /// Copies the data of a commit to memory; nil for the last one.
  func copy(asOf number: UInt64?) throws(StoreError) -> any StoreBackend {
    try pool.check()
    // This comes first, so that no value is removed to which the copy refers.
    let values = coordinator.externalValues(of: self).map { ExternalValuesInUse($0) }
    let store = Parameter.int4(storeID)
    let (transaction, results) = try beginReading([
      Statement(
        """
        select t.name, r.row, r.data from stored_objects.tables t
          join stored_objects.records r on r.table_id = t.id
        where t.store = $1 and t.kind = 0
        """, [store]),
      Statement(
        """
        select t.kind, t.name, k.head || k.tail, k.value from stored_objects.tables t
          join stored_objects.keys k on k.table_id = t.id
        where t.store = $1 and t.kind > 0
        """, [store]),
      Statement("select name, data from stored_objects.buffers where store = $1", [store]),
      Statement(
        """
        select s.last_commit, c.number, c.token, c.author, c."time", c.based_on
        from stored_objects.stores s
          left join stored_objects.commits c on c.store = s.id and c.number = s.last_commit
        where s.id = $1
        """, [store]),
    ])
    transaction.end()
    let disk = MemoryDisk()
    let copy = try MemoryBackend(disk: disk)
    try copy.commit(try copiedChanges(results, copy))
    let last = try reading { () throws(ServerFailure) -> Commit? in
      try Commit.last(results[3], 0, sealing)
    }
    try copy.continueNumbers(after: last)
    if let number { try copy.goBack(to: number) }
    copy.close()
    let snapshot = try MemoryBackend(snapshotOn: disk, values)
    // The tables of the snapshot must have the same numbers as here.
    let (names, ordered) = numbers.withLock { ($0.names, $0.orderedNames) }
    for name in names { _ = try snapshot.table(named: name) }
    for name in ordered { _ = try snapshot.orderedTable(name) }
    return snapshot
  }

  private func copiedChanges(
    _ results: [QueryResult], _ copy: MemoryBackend
  ) throws(StoreError) -> ChangeSet {
    var changes = ChangeSet()
    var places: [TableID: Int] = [:]
    for index in 0..<results[0].rowCount {
      let (name, row) = try reading { () throws(ServerFailure) in
        (try opened(results[0].text(index, 0)), UInt32(clamping: try results[0].number(index, 1)))
      }
      let table = try copy.table(named: name)
      let start = changes.bytes.count
      try results[0].withBytes(index, 2) { (stored) throws(StoreError) in
        try lendRecord(stored, row, known(name)) { changes.bytes.append(copying: $0) }
      }
      let place = places[table] ?? changes.tables.count
      if place == changes.tables.count {
        changes.tables.append(.init(table: table, records: []))
        places[table] = place
      }
      changes.tables[place].records.append(
        .init(kind: .insert, rowID: row, range: start..<changes.bytes.count))
    }
    for index in 0..<results[1].rowCount {
      let (name, key, value) = try copiedKey(results[1], index)
      changes.set(key, to: value, in: try copy.orderedTable(name))
    }
    for index in 0..<results[2].rowCount {
      let start = changes.bytes.count
      let key = results[2].text(index, 0)
      try results[2].withBytes(index, 1) { (stored) throws(StoreError) in
        guard let sealing else { return changes.bytes.append(copying: stored) }
        changes.bytes += try sealing.open(stored, ofBuffer: key)
      }
      let name = try reading { () throws(ServerFailure) in try opened(key) }
      changes.names.append(.init(name: name, range: start..<changes.bytes.count))
    }
    return changes
  }

  private func copiedKey(
    _ result: QueryResult, _ row: Int
  ) throws(StoreError) -> (OrderedTableName, key: [UInt8], value: [UInt8]) {
    let stored = OrderedTableName(result, row)
    guard let sealing else { return (stored, result.bytes(row, 2), result.bytes(row, 3)) }
    let name = OrderedTableName(
      try reading { () throws(ServerFailure) in try opened(stored.name) }, kind: stored.kind)
    let key = try sealing.open(result.bytes(row, 2), of: name)
    let value = try result.withBytes(row, 3) { (value) throws(StoreError) in
      try sealing.open(value, ofKey: key, in: name)
    }
    return (name, key, value)
  }
}
