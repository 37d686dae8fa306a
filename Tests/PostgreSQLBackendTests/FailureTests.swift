import Foundation
import PostgreSQLBackend
import StoredObjectsCore
import TestFiles
import TestServer
import Testing

@Suite("Failures of PostgreSQL", .needsServer)
struct FailureTests {
  /// Lets a test use a backend behind a proxy, with one record.
  private func withProxy(
    _ configuration: PostgreSQLConfiguration = .init(),
    _ body: (PostgreSQLBackend, TestProxy, TableID) throws -> Void
  ) throws {
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy, configuration)
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    try body(backend, proxy, table)
    backend.close()
  }

  @Test("A save is one round trip, and so is a read")
  func roundTrips() throws {
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy)
    let table = try backend.table(named: "Song")
    let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    var changes = change(.insert, 2, [1], table)
    changes.set([1], to: [2], in: words)
    changes.names = [.init(name: "Name", range: 0..<1)]
    let first = changes
    #expect(try proxy.count { try backend.commit(first) } == 1)
    var request = CommitRequest(basis: CommitBasis(upTo: 1))
    request.basis?.rows = [(table, 3)]
    let based = request
    #expect(try proxy.count { try backend.commit(change(.insert, 9, [1], table), based) } == 1)
    #expect(try proxy.count { _ = try backend.record(2, in: table) } == 1)
    #expect(try proxy.count { _ = try backend.recordCount(in: table) } == 1)
    #expect(try proxy.count { _ = try backend.keyCount(in: words, KeyRange()) } == 1)
    #expect(try proxy.count { _ = backend.lastCommitNumber } == 1)
    proxy.roundTrips = 0
    var batch = RecordBatch()
    try backend.copyRecords(Array(2...1001), of: table, to: &batch)
    #expect(proxy.roundTrips == 1 && batch.count == 2)
    // The metadata row is looked for once.
    _ = try backend.reserveRows(1, in: table)
    proxy.roundTrips = 0
    for _ in 0..<100 { _ = try backend.reserveRows(1, in: table) }
    #expect(proxy.roundTrips == 2)
  }

  @Test("A save of objects is one round trip")
  func roundTripsOfStores() throws {
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let store = Store(backend: try database.backend(through: proxy))
    try store.register(Song.self)
    let song = Song()
    store.insert(song)
    try store.saveChanges()
    proxy.roundTrips = 0
    song.title = "Blue"
    try store.saveChanges()
    #expect(proxy.roundTrips == 1)
    for _ in 0..<10 { store.insert(Song()) }
    try store.saveChanges()
    #expect(proxy.roundTrips == 2)
  }

  @Test("Idle connections that are lost make room for new ones, however often", .hangLimit)
  func roomAfterLosses() throws {
    let database = try TestDatabase()
    let name = "losses-\(UUID().uuidString.prefix(8))"
    let backend = try database.backend(named: name, maximumConnectionCount: 3)
    let table = try backend.table(named: "Song")
    let rows = (2..<300).map { ChangeSet.RecordChange(kind: .insert, rowID: $0, range: 0..<1) }
    try backend.commit(ChangeSet(bytes: [1], tables: [.init(table: table, records: rows)]))
    /// Scans within scans, each of which holds a connection.
    func scan(_ depth: Int) throws(StoreError) {
      if depth == 0 { return }
      _ = try backend.scan(table, from: nil) { (_, _) throws(StoreError) in
        try scan(depth - 1)
        return .pause
      }
    }
    for _ in 0..<4 {
      try scan(3)
      try database.endSessions(of: name)
      #expect(try backend.record(2, in: table) == [1])
    }
    backend.close()
  }

  @Test("Reads and saves continue after the server has ended all sessions")
  func terminatedSessions() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let backend = try database.backend(database: name)
    let table = try backend.table(named: "Song")
    for number in 0..<UInt8(5) {
      try backend.commit(change(.update, 2, [number], table))
      try end(database, name)
      #expect(try backend.record(2, in: table) == [number])
      try end(database, name)
    }
    #expect(backend.lastCommitNumber == 5)
  }

  private func end(_ database: TestDatabase, _ name: String) throws {
    try database.server.sql(
      "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '\(name)'")
  }

  @Test("A save whose answer is lost is made once", arguments: [false, true])
  func lostAnswer(_ isAnswered: Bool) throws {
    try withProxy { backend, proxy, table in
      for number in 0..<UInt8(10) {
        proxy.cut(isAnswered ? .beforeAnswer : .afterRequest)
        let token = UUID()
        let commit = try backend.commit(
          change(.insert, UInt32(number) + 10, [number], table), CommitRequest(token: token))
        #expect(proxy.hasCut)
        #expect(commit?.number == UInt64(number) + 2)
        #expect(try backend.commit(withToken: token) == commit)
      }
      #expect(backend.lastCommitNumber == 11)
      #expect(try backend.recordCount(in: table) == 11)
    }
  }

  @Test("A save whose answer is lost for good throws its token, by which it is found later")
  func inDoubt() throws {
    var configuration = PostgreSQLConfiguration()
    configuration.timeout = .milliseconds(300)
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy, configuration)
    let table = try backend.table(named: "Song")
    proxy.cut(.everything)
    let error = storeError { try backend.commit(change(.insert, 2, [1], table)) }
    #expect(error?.code == .reopenNeeded)
    proxy.cut(.nothing)
    #expect(try backend.record(2, in: table) == nil)
    #expect(try backend.commit(withToken: UUID()) == nil)
    try backend.commit(change(.insert, 2, [1], table))
    #expect(backend.lastCommitNumber == 1)
  }

  @Test("A commit with an existing token is made once")
  func repeatedToken() throws {
    let backend = try TestDatabase().backend()
    let table = try backend.table(named: "Song")
    let request = CommitRequest(token: UUID())
    let commit = try backend.commit(change(.insert, 2, [1], table), request)
    #expect(try backend.commit(change(.insert, 3, [1], table), request)?.number == commit?.number)
    #expect(backend.lastCommitNumber == 1)
    #expect(try backend.recordCount(in: table) == 1)
  }

  @Test("A statement that the server cancels is an error with a remedy")
  func statementTimeout() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let backend = try database.backend(database: name)
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    try database.server.sql(
      """
      create function slow() returns trigger language plpgsql as
      'begin perform pg_sleep(5); return new; end';
      create trigger slow before update on stored_objects.records
        for each row execute function slow();
      alter database \(name) set statement_timeout = '200ms'
      """, database: name)
    let other = try database.backend(database: name)
    let error = storeError {
      try other.commit(change(.update, 2, [2], try other.table(named: "Song")))
    }
    #expect(error?.code == .ioError)
    #expect("\(error.debugDescription)".contains("statement_timeout"))
    #expect(try backend.record(2, in: table) == [1])
  }

  /// Has updates of records fail with an error of the server, until a sequence has counted to a
  /// limit.
  private func failing(
    _ state: String, times: Int, _ configuration: PostgreSQLConfiguration = .init()
  ) throws -> (PostgreSQLBackend, TableID) {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let backend = try database.backend(database: name, configuration)
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    try database.server.sql(
      """
      create sequence attempts;
      create function fail() returns trigger language plpgsql as
      'begin if nextval(''attempts'') <= \(times) then raise sqlstate ''\(state)''; end if;
       return new; end';
      create trigger fail before update on stored_objects.records
        for each row execute function fail();
      """, database: name)
    return (backend, table)
  }

  @Test(
    "A save that the server can't serialize now, or whose outcome is unknown, is made once",
    arguments: ["40001", "40P01", "40003"])
  func transient(_ state: String) throws {
    let (backend, table) = try failing(state, times: 3)
    let commit = try backend.commit(change(.update, 2, [2], table))
    #expect(commit?.number == 2 && backend.lastCommitNumber == 2)
    #expect(try backend.record(2, in: table) == [2])
  }

  @Test(
    "An error of the server that does not end is an error with a remedy, and nothing is saved",
    arguments: [
      ("40001", .ioError, "Try again"), ("40P01", .ioError, "Try again"),
      ("53100", .noSpace, "Make room"), ("53200", .noSpace, "Make room"),
      ("42501", .ioError, "grant"), ("54000", .tooLarge, "so much"), ("XX001", .damaged, "damaged"),
      ("22012", .ioError, "rejected"),
    ] as [(String, StoreError.Code, String)])
  func permanent(_ state: String, _ code: StoreError.Code, _ remedy: String) throws {
    var configuration = PostgreSQLConfiguration()
    configuration.timeout = .milliseconds(300)
    let (backend, table) = try failing(state, times: .max, configuration)
    let error = storeError { try backend.commit(change(.update, 2, [2], table)) }
    #expect(error?.code == code, "\(error.debugDescription)")
    #expect(error?.message.contains(remedy) == true, "\(error.debugDescription)")
    #expect(try backend.record(2, in: table) == [1])
    #expect(backend.lastCommitNumber == 1)
    try backend.commit(change(.insert, 3, [3], table))
    #expect(backend.lastCommitNumber == 2)
  }

  @Test("A save above the size limit is refused, and one of many pieces is complete")
  func pieces() throws {
    let backend = try TestDatabase().backend()
    let table = try backend.table(named: "Song")
    let words = try backend.orderedTable(OrderedTableName("Words", kind: .index))
    var changes = ChangeSet(tables: [.init(table: table, records: [])])
    for row in UInt32(2)..<42 {
      let start = changes.bytes.count
      changes.bytes += [UInt8](repeating: UInt8(row), count: 300_000)
      changes.tables[0].records.append(
        .init(kind: .insert, rowID: row, range: start..<changes.bytes.count))
    }
    for number in 0..<UInt32(20_000) {
      changes.set([UInt8](bigEndianBytes: number), to: [UInt8](repeating: 1, count: 50), in: words)
    }
    try backend.commit(changes)
    #expect(try backend.record(41, in: table) == [UInt8](repeating: 41, count: 300_000))
    #expect(try backend.recordCount(in: table) == 40)
    #expect(try backend.keyCount(in: words, KeyRange()) == 20_000)
    #expect(try backend.keyCount(in: words, KeyRange(from: [0, 0, 1], to: [0, 0, 2])) == 256)
    // Nothing of it is written where the last piece is of no use.
    changes.tables[0].records[39] = .init(kind: .insert, rowID: 100, range: 0..<1)
    #expect(storeError { try backend.commit(changes) }?.code == .rowExists)
    #expect(try backend.recordCount(in: table) == 40)
    #expect(backend.lastCommitNumber == 1)
  }
}

extension TestProxy {
  /// The round trips of a closure.
  fileprivate func count(_ body: () throws -> Void) throws -> Int {
    roundTrips = 0
    try body()
    return roundTrips
  }
}

extension [UInt8] {
  init(bigEndianBytes number: UInt32) {
    self = (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
