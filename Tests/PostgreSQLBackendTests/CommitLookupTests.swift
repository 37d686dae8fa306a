import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestServer
import Testing

@testable import PostgreSQLBackend

@Suite("Looking for commits on PostgreSQL", .needsServer)
struct CommitLookupTests {
  /// Statements that hold the lock of the store until the session is ended.
  private static let holding = [
    "begin",
    "select pg_advisory_xact_lock(\(Schema.lockClass), id) from stored_objects.stores",
    "select pg_sleep(3600)",
  ]

  /// The condition of a session that waits for a lock.
  private static let isWaiting = "wait_event_type = 'Lock'"

  @Test(
    "A lookup waits for a commit that has begun, also if it could get the lock before it",
    arguments: ["read committed", "repeatable read", "serializable"])
  func waits(isolation: String) throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    try database.server.sql(
      "alter database \(name) set default_transaction_isolation = '\(isolation)'")
    let backend = try database.backend(database: name)
    defer { backend.close() }
    let table = try backend.table(named: "Song")
    // The next commit takes the short way, whose session waits in another manner.
    for row in UInt32(2)...3 { try backend.commit(change(.insert, row, [1], table)) }
    let token = UUID()
    let (mayLook, isFound) = (SharedLock(false), SharedLock<Bool?>(nil))
    try BackendConformance.runOnThreads(4) { number in
      switch number {
      case 0: _ = try? database.server.session(Self.holding, database: name)
      case 1:
        _ = try waitForSession(database, name, "query like '%(3600)'") { false }
        try backend.commit(change(.insert, 4, [1], table), CommitRequest(token: token))
      case 2:
        let process = try #require(try waitForSession(database, name, Self.isWaiting) { false })
        // The session gets the lock, and can't go on.
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        try database.server.sql(
          """
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = '\(name)' and query like '%(3600)'
          """)
        mayLook.withLock { $0 = true }
        let others = "\(Self.isWaiting) and pid <> \(process)"
        _ = try waitForSession(database, name, others) { isFound.withLock { $0 != nil } }
      default:
        let other = try database.backend(database: name)
        while !mayLook.withLock(\.self) { Thread.sleep(forTimeInterval: 0.01) }
        let commit = try other.commit(withToken: token)
        isFound.withLock { $0 = commit?.token == token }
        other.close()
      }
    }
    #expect(isFound.withLock(\.self) == true)
  }

  @Test("A lookup doesn't wait for commits to another store")
  func otherStores() throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let url = database.server.url(database: name)
    let (busy, idle) = (
      try PostgreSQLBackend(url, store: "Busy"), try PostgreSQLBackend(url, store: "Idle")
    )
    defer {
      busy.close()
      idle.close()
    }
    let token = UUID()
    let table = try idle.table(named: "Song")
    let made = try idle.commit(change(.insert, 2, [1], table), CommitRequest(token: token))
    // The last known commit is a wrong one, so the function has no other effect.
    let nulls = Array(repeating: "null", count: 30).joined(separator: ", ")
    let session = """
      begin; select stored_objects.commit_small(1, 99, \(nulls));
      select pg_sleep(3600)
      """
    Thread.detachNewThread { _ = try? database.server.sql(session, database: name) }
    let process = try #require(try waitForSession(database, name, "query like '%(3600)'") { false })
    #expect(
      try database.server.sql(
        "select count(*) from pg_locks where pid = \(process) and locktype = 'advisory'") == "1")
    #expect(try idle.commit(withToken: token) == made)
    #expect(try idle.commit(withToken: UUID()) == nil)
    try database.server.sql("select pg_terminate_backend(\(process), 60000)")
    #expect(try busy.commit(withToken: token) == nil)
  }

  /// Waits for a session of a database that meets a condition, and returns its process.
  private func waitForSession(
    _ database: TestDatabase, _ name: String, _ condition: String, unless isDone: () -> Bool
  ) throws -> Int32? {
    let query = """
      select pid from pg_stat_activity
      where datname = '\(name)' and pid <> pg_backend_pid() and \(condition) limit 1
      """
    while !isDone() {
      if let process = Int32(try database.server.sql(query)) { return process }
      Thread.sleep(forTimeInterval: 0.02)
    }
    return nil
  }
}
