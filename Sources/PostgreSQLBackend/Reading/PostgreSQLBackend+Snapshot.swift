import Files
import Locks
public import StoreEngine

extension PostgreSQLBackend {
  /// Whether a snapshot has a connection of its own: true, unless this is a snapshot already.
  public var snapshotsHoldConnections: Bool { held == nil }

  /// Returns the data as of the last commit, for as long as the result is held.
  ///
  /// A snapshot copies nothing. It is a transaction of the server on a connection of its own, in
  /// addition to ``PostgreSQLConfiguration/maximumConnectionCount``. While it is held, the server
  /// can't remove the rows that others delete or replace: release it when you are done. Its reads
  /// run one after the other. If the connection is lost, they throw `ioError`, and you take another
  /// snapshot.
  ///
  /// Objects read their external values outside of the transaction. One that others remove
  /// meanwhile is gone.
  ///
  /// Complexity: linear in the number of tables, in one round trip.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` (the server
  ///   has lost commits), `closed` or `forked`.
  public func snapshot() throws(StoreError) -> any StoreBackend {
    try checkOpen()
    if let held {
      return PostgreSQLBackend(snapshotOf: self, try HeldSnapshot(sharing: held, at: location))
    }
    // This comes first, so that no value is removed to which the snapshot refers.
    let values = coordinator.externalValues(of: self).map { ExternalValuesInUse($0) }
    // A snapshot may be held for long, so it keeps no connection from others.
    let buffers = internalBuffers
    let (transaction, results) = try beginTransaction(
      try headStatements(buffers) + [lastCommitStatement], isCounted: false)
    let last = try reading { () throws(ServerFailure) -> Commit? in
      try Commit.last(results[2], 0, sealing)
    }
    let held = HeldSnapshot(self, transaction, last, values, try head(results, buffers))
    return PostgreSQLBackend(snapshotOf: self, held)
  }

  /// The buffers that a store with all known classes reads.
  private var internalBuffers: [String] {
    numbers.withLock { $0.names.map { $0 + InternalBuffers.layoutsSuffix } }
      + [InternalBuffers.migrations]
  }

  /// Returns the statements for what every store reads first.
  private func headStatements(_ buffers: [String]) throws(StoreError) -> [Statement] {
    var names = Parameter.ByteArrays(count: buffers.count)
    for buffer in buffers { names.append(Array(try serverName(ofBuffer: buffer).utf8)) }
    let store = Parameter.int4(storeID)
    return [
      Statement(
        """
        select t.name, r.data from stored_objects.tables t
          join stored_objects.records r on r.table_id = t.id and r.row = $2
        where t.store = $1 and t.kind = 0
        """, [store, .int(Int(ClassMetadata.rowID))]),
      Statement(
        """
        select n.place, b.data from unnest($2) with ordinality n(name, place)
          join stored_objects.buffers b on b.store = $1 and b.name_hash = sha256(n.name)
        """, [store, .bytesArray(names)]),
    ]
  }

  private func head(
    _ results: [QueryResult], _ buffers: [String]
  ) throws(StoreError) -> HeldSnapshot.Head {
    var head = HeldSnapshot.Head()
    for index in 0..<results[0].rowCount {
      let name = try reading { () throws(ServerFailure) in try opened(results[0].text(index, 0)) }
      head.metadata[name] = try results[0].withBytes(index, 1) { (stored) throws(StoreError) in
        try lendRecord(stored, ClassMetadata.rowID, known(name)) { [UInt8](copying: $0) }
      }
    }
    for buffer in buffers { head.buffers[buffer] = .some(nil) }
    for index in 0..<results[1].rowCount {
      let place = try reading { () throws(ServerFailure) in try results[1].number(index, 0) } - 1
      guard buffers.indices.contains(Int(place)) else {
        throw ServerFailure.unexpectedAnswer.error(at: location)
      }
      let name = buffers[Int(place)]
      head.buffers[name] = try results[1].withBytes(index, 1) { (stored) throws(StoreError) in
        try sealing?.open(stored, ofBuffer: serverName(ofBuffer: name)) ?? [UInt8](copying: stored)
      }
    }
    return head
  }

  private var lastCommitStatement: Statement {
    Statement(
      """
      select coalesce(c.number, s.last_commit), c.number, c.token, c.author, c."time", c.based_on
      from stored_objects.stores s
        \(Schema.withLastCommit)
      where s.id = $1
      """, [.int4(storeID)])
  }

  /// Copies the data to memory, and undoes the commits after one.
  func copy(asOf number: UInt64) throws(StoreError) -> any StoreBackend {
    try checkOpen()
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
      lastCommitStatement,
    ])
    transaction.end()
    let disk = MemoryDisk()
    let copy = try MemoryBackend(disk: disk)
    try copy.commit(try copiedChanges(results, copy))
    let last = try reading { () throws(ServerFailure) -> Commit? in
      try Commit.last(results[3], 0, sealing)
    }
    try copy.continueNumbers(after: last)
    try copy.goBack(to: number)
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
