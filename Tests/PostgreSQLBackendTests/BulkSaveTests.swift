import Locks
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import TestServer
import Testing

/// Saves of so many new rows that they are copied instead of sent as arrays.
@Suite("Saves of many new rows on PostgreSQL", .needsServer)
struct BulkSaveTests {
  private static let rowCount: UInt32 = 5000

  /// Returns an insertion of rows of different sizes in two tables.
  private static func insertion(
    from first: UInt32, _ backend: PostgreSQLBackend
  ) throws -> ChangeSet {
    var changes = ChangeSet()
    for name in ["Song", "Other"] {
      var records: [ChangeSet.RecordChange] = []
      for row in first..<first + rowCount {
        let start = changes.bytes.count
        changes.bytes += [UInt8](repeating: UInt8(row % 251), count: Int(row % 97))
        records.append(.init(kind: .insert, rowID: row, range: start..<changes.bytes.count))
      }
      changes.tables.append(.init(table: try backend.table(named: name), records: records))
    }
    return changes
  }

  private static func check(
    _ backend: PostgreSQLBackend, rowsFrom first: UInt32,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for name in ["Song", "Other"] {
      let table = try backend.table(named: name)
      var batch = RecordBatch()
      try backend.copyRecords(Array(first..<first + rowCount), of: table, to: &batch)
      let isRight = zip(first..., batch.records).allSatisfy { row, record in
        record.rowID == row
          && record.bytes == [UInt8](repeating: UInt8(row % 251), count: Int(row % 97))
      }
      #expect(isRight && batch.count == Int(rowCount), sourceLocation: sourceLocation)
    }
  }

  @Test(
    "Rows that are copied are as others, encrypted or not",
    arguments: TestDatabase.keys)
  func copies(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let (mine, theirs) = (try database.backend(), try database.backend())
    var changes = try Self.insertion(from: 2, mine)
    let words = try mine.orderedTable(OrderedTableName("Words", kind: .data))
    changes.set([1], to: [2], in: words)
    #expect(try mine.commit(changes)?.number == 1)
    try Self.check(theirs, rowsFrom: 2)
    let table = try theirs.table(named: "Song")
    #expect(try theirs.recordCount(in: table) == Int(Self.rowCount))
    #expect(try theirs.reserveRows(1, in: table).lowerBound > Self.rowCount + 1)
    // A commit based on the number before knows of the rows.
    let basis = CommitRequest(basis: CommitBasis(upTo: 0))
    let error = storeError { try theirs.commit(change(.update, 77, [1], table), basis) }
    #expect(error?.code == .conflict)
    try mine.commit(try Self.insertion(from: 10_000, mine))
    #expect(theirs.lastCommitNumber == 2)
    try Self.check(theirs, rowsFrom: 10_000)
  }

  @Test("If one row exists, none is copied, and the connection is free again")
  func rowExists() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let backend = try database.backend(database: name)
    let table = try backend.table(named: "Other")
    try backend.commit(change(.insert, 3000, [1], table))
    let changes = try Self.insertion(from: 2, backend)
    for _ in 0..<10 { #expect(storeError { try backend.commit(changes) }?.code == .rowExists) }
    #expect(try backend.recordCount(in: table) == 1 && backend.lastCommitNumber == 1)
    let open = try database.server.sql(
      """
      select count(*) from pg_stat_activity
      where datname = '\(name)' and state like 'idle in transaction%'
      """)
    #expect(open == "0")
  }

  @Test(
    "A copy whose connection is lost at any moment is made once", arguments: 1...4, [false, true])
  func lostConnections(_ request: Int, isAnswered: Bool) throws {
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy)
    let changes = try Self.insertion(from: 2, backend)
    let count = SharedLock(0)
    proxy.beforeRequests {
      count.withLock { $0 += 1 }
      if count.withLock(\.self) == request { proxy.cut(isAnswered ? .beforeAnswer : .afterRequest) }
    }
    #expect(try backend.commit(changes)?.number == 1)
    #expect(proxy.hasCut)
    #expect(backend.lastCommitNumber == 1)
    try Self.check(backend, rowsFrom: 2)
    #expect(try backend.recordCount(in: backend.table(named: "Song")) == Int(Self.rowCount))
  }

  @Test("A full disk in the middle of a copy changes nothing, and the next save succeeds")
  func fullDisk() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let backend = try database.backend(database: name)
    let changes = try Self.insertion(from: 2, backend)
    try database.server.sql(
      """
      create function fail() returns trigger language plpgsql as
        'begin if new.row = 3000 then raise sqlstate ''53100''; end if; return new; end';
      create trigger fail before insert on stored_objects.records
        for each row execute function fail();
      """, database: name)
    #expect(storeError { try backend.commit(changes) }?.code == .noSpace)
    let table = try backend.table(named: "Song")
    #expect(try backend.recordCount(in: table) == 0)
    try database.server.sql("drop trigger fail on stored_objects.records", database: name)
    #expect(try backend.commit(changes)?.number == 1)
    try Self.check(backend, rowsFrom: 2)
  }
}
