import Foundation
import KeyValueStoreCore
import Locks
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsTestSupport
import TestServer
import Testing

@Suite("Opening stores on PostgreSQL", .needsServer)
struct OpeningTests {
  @Test("Programs that open a new database concurrently all find the same schema")
  func race() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    try BackendConformance.runOnThreads(8) { number in
      let backend = try database.backend(database: name)
      let table = try backend.table(named: "Song")
      try backend.commit(change(.insert, UInt32(number) + 2, [1], table))
    }
    #expect(try database.backend(database: name).lastCommitNumber == 8)
  }

  @Test(
    "A schema of an earlier release is upgraded once, by the first writer, and its stores continue",
    arguments: [1, 2, 3, 4, 5, 6])
  func earlierSchema(_ version: Int) throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let fixture = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/version\(version).sql")
    try database.server.sql(String(contentsOf: fixture, encoding: .utf8), database: name)
    var readOnly = PostgreSQLConfiguration()
    readOnly.access = .readOnly
    let url = database.server.url(database: name)
    let refusal = storeError {
      _ = try PostgreSQLBackend(url, store: "Music", configuration: readOnly)
    }
    #expect(refusal?.code == .ioError && refusal?.message.contains("earlier release") == true)
    try BackendConformance.runOnThreads(4) { _ in
      try PostgreSQLBackend(url, store: "Music").close()
    }
    let backend = try PostgreSQLBackend(url, store: "Music")
    #expect(backend.lastCommitNumber == (version < 4 ? 4 : 5))
    let store = Store(backend: backend)
    try store.register(Song.self)
    let songs = try store.allObjects(of: Song.self).sorted { $0.rowID < $1.rowID }
    #expect(songs.map(\.title) == ["Song 1", "Song 3", "Song 4"])
    #expect(songs.map(\.plays) == [1, 33, 4])
    #expect(try store.buffer(named: "Order") != nil)
    let keys = try backend.orderedTable(OrderedTableName("Keys", kind: .data))
    #expect(try backend.keyCount(in: keys, KeyRange()) == 2)
    songs[0].plays = 2
    store.insert(Song())
    try store.saveChanges()
    #expect(try backend.changes(since: 0).tables.count == 1)
    try KeyValueStore(backend: backend).createTable("new").put(1, for: "a")
    let image = try HistoryWalk.content(backend)
    try backend.beginHistory()
    songs[0].plays = 3
    try store.saveChanges()
    try HistoryWalk.check(backend, from: image)
    try checkRemoval(of: backend, database, name)
  }

  /// Checks that all rows of the only store of a database are removed with it.
  private func checkRemoval(
    of backend: PostgreSQLBackend, _ database: TestDatabase, _ name: String
  ) throws {
    backend.close()
    let tables = ["tables", "records", "keys", "buffers", "commits"]
    func counts() throws -> [Int] {
      try tables.map { table in
        let text = try database.server.sql(
          "select count(*) from stored_objects.\(table)", database: name)
        return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
      }
    }
    #expect(try counts().allSatisfy { $0 > 0 })
    try database.server.sql("delete from stored_objects.stores", database: name)
    #expect(try counts() == [0, 0, 0, 0, 0])
  }

  @Test("A schema of a later release is refused and not changed")
  func newerSchema() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    try database.backend(database: name).close()
    try database.server.sql("update stored_objects.schema_version set version = 9", database: name)
    let error = storeError { _ = try database.backend(database: name) }
    #expect(error?.code == .newerVersion)
    #expect("\(error.debugDescription)".contains("version 9"))
  }

  @Test("A wrong password is an error without any password in it")
  func wrongPassword() throws {
    let server = try TestServer.shared.get()
    try server.sql("create role locked login password 'right'")
    _ = try? PostgreSQLBackend(server.url(role: "locked", password: "right"), store: "x")
    let error = storeError {
      _ = try PostgreSQLBackend(server.url(role: "locked", password: "Geheim77"), store: "x")
    }
    #expect(error?.code == .ioError)
    let text = "\(error.debugDescription)"
    #expect(text.contains("password"))
    #expect(!text.contains("Geheim77"))
  }

  @Test(
    "An invalid connection string is refused, and not in the error",
    arguments: [
      "postgresql://anna:Geheim77/x@host/db", "postgresql://anna:Geheim77@host:port/db", "Geheim77",
      "host=/tmp password='Geheim77", "postgresql://anna@host/db?Geheim77=1",
    ])
  func badStrings(_ text: String) {
    let error = storeError { _ = try PostgreSQLBackend(text, store: "x") }
    #expect(error?.code == .invalidArgument)
    #expect(!"\(error.debugDescription)".contains("Geheim77"))
  }

  @Test("Invalid names of stores are refused", arguments: ["", "a\0b"])
  func badNames(_ name: String) throws {
    let server = try TestServer.shared.get()
    #expect(
      storeError { _ = try PostgreSQLBackend(server.url(), store: name) }?.code == .invalidArgument)
  }

  @Test("A missing server is an error that says so")
  func noServer() {
    let error = storeError {
      _ = try PostgreSQLBackend("postgresql://%2Fnowhere/db", store: "x")
    }
    #expect(error?.code == .ioError)
  }

  @Test("A role without rights gets an error that says so, before and after the creation")
  func noRights() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    try database.server.sql("create role \(name) login")
    let creation = storeError { _ = try database.backend(role: name, database: name) }
    #expect(creation?.code == .ioError)
    #expect("\(creation.debugDescription)".contains("privilege"))
    let owner = try database.backend(database: name)
    let table = try owner.table(named: "Song")
    try owner.commit(change(.insert, 2, [1], table))
    #expect(
      "\(storeError { _ = try database.backend(role: name, database: name) }.debugDescription)"
        .contains("privilege"))
    // Reading needs no right to write.
    try database.server.sql(
      """
      grant usage on schema stored_objects to \(name);
      grant select on all tables in schema stored_objects to \(name)
      """, database: name)
    var configuration = PostgreSQLConfiguration()
    configuration.access = .readOnly
    let reader = try database.backend(role: name, database: name, configuration)
    #expect(try reader.record(2, in: try reader.table(named: "Song")) == [1])
    #expect(try reader.commit(withToken: UUID()) == nil)
    let writer = try database.backend(role: name, database: name)
    let error = storeError {
      try writer.commit(change(.insert, 3, [1], try writer.table(named: "Song")))
    }
    #expect("\(error.debugDescription)".contains("privilege"))
    // The rights on the page are enough.
    try database.server.sql(
      "grant insert, update, delete on all tables in schema stored_objects to \(name)",
      database: name)
    try writer.commit(change(.insert, 3, [1], try writer.table(named: "Song")))
    #expect(owner.lastCommitNumber == 2)
  }

  @Test("A missing store is not created for reading")
  func noStore() throws {
    #expect(storeError { _ = try TestDatabase().open(readOnly: true) }?.code == .ioError)
  }

  @Test("A database in another encoding is refused")
  func encoding() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase("LATIN1")
    let error = storeError { _ = try database.backend(database: name) }
    #expect("\(error.debugDescription)".contains("LATIN1"))
  }

  @Test("A server that has lost commits is detected")
  func lostCommits() throws {
    let database = try TestDatabase()
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    try database.server.sql(
      """
      update stored_objects.stores set last_commit = 0 where name = '\(database.store)';
      delete from stored_objects.commits c using stored_objects.stores s
        where s.id = c.store and s.name = '\(database.store)'
      """)
    #expect(storeError { _ = try backend.record(2, in: table) }?.code == .reopenNeeded)
  }

  @Test("Many threads share few connections, and leave no session in a transaction")
  func connections() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    var configuration = PostgreSQLConfiguration()
    configuration.maximumConnectionCount = 2
    let backend = try database.backend(database: name, configuration)
    let table = try backend.table(named: "Song")
    for row in UInt32(2)..<300 { try backend.commit(change(.insert, row, [1], table)) }
    try BackendConformance.runOnThreads(8) { _ in
      for _ in 0..<10 {
        var count = 0
        _ = try backend.scan(table, from: nil) { _, _ in
          count += 1
          return count < 70 ? .next : .pause
        }
      }
    }
    _ = try backend.record(2, in: table)
    let sessions = try database.server.sql(
      """
      select count(*), count(*) filter (where state like 'idle in%')
      from pg_stat_activity where datname = '\(name)'
      """)
    #expect(sessions == "2|0" || sessions == "1|0")
  }
}
