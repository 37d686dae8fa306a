import Foundation
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsTestSupport
import Synchronization
import TestServer
import Testing

/// A store behind a pooler that gives another session to each transaction.
private struct PooledDatabase: BackendLocation {
  let database: TestDatabase
  let pooler: TestPooler
  /// The name by which the pooler knows the database.
  let name: String

  init(_ name: String = "postgres") throws {
    (database, pooler) = (try TestDatabase(), try TestPooler.shared.get())
    self.name = name
  }

  func open(readOnly: Bool) throws -> any StoreBackend {
    var configuration = PostgreSQLConfiguration()
    if readOnly { configuration.access = .readOnly }
    return try PostgreSQLBackend(
      database.server.url(database: name, through: pooler.directory, port: pooler.port),
      store: database.store, configuration: configuration)
  }
}

@Suite(
  "A backend with a pooler in transaction mode", .needsServer,
  .enabled(if: TestPooler.isAvailable, "pgbouncer isn't installed: ./dev setup installs it"))
struct PoolerTests {
  @Test("It keeps the promises of a backend", arguments: TestDatabase.checks)
  func conformance(_ check: BackendConformance.Check) throws {
    try check.run(try PooledDatabase(TestPooler.wideDatabase))
  }

  @Test("More machines than sessions of the pooler lose no increment")
  func increments() throws {
    let database = try PooledDatabase()
    let first = Store(backend: try database.open())
    try first.register(Song.self)
    let song = Song()
    first.insert(song)
    try first.saveChanges()
    let row = song.rowID
    try BackendConformance.runOnThreads(6) { _ in
      let store = Store(backend: try database.open())
      try store.register(Song.self)
      let own = try #require(try store.object(Song.self, rowID: row))
      for _ in 0..<50 { try store.transaction(attempts: 1000) { own.plays += 1 } }
    }
    first.mergeChanges()
    #expect(song.plays == 300)
  }

  @Test("Thousands of new objects, which are copied, are saved through it")
  func copies() throws {
    let database = try PooledDatabase()
    let store = Store(backend: try database.open())
    try store.register(Song.self)
    for _ in 0..<2 {
      for _ in 0..<5000 { store.insert(Song()) }
      try store.saveChanges()
    }
    #expect(try store.count(of: Song.self) == 10_000)
    #expect(try store.check().isSound)
  }

  @Test("Scans in threads that wait for each other's sessions end")
  func scans() throws {
    let database = try PooledDatabase()
    let backend = try database.open()
    let table = try backend.table(named: "Song")
    for row in UInt32(2)..<200 {
      try backend.commit(change(.insert, row, [UInt8](repeating: 1, count: 3000), table))
    }
    let counts = Atomic(0)
    try BackendConformance.runOnThreads(6) { _ in
      _ = try backend.scan(table, from: nil) { _, _ in
        counts.add(1, ordering: .relaxed)
        return .next
      }
    }
    #expect(counts.load(ordering: .relaxed) == 6 * 198)
  }
}
