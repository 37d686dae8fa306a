import Foundation
import TestServer

@testable import PostgreSQLBackend

/// The lock of a store, held by another session, so that commits wait.
final class HeldLock: Sendable {
  private let server: TestServer
  private let store: String

  /// Takes the lock.
  init(_ database: TestDatabase) throws {
    (server, store) = (database.server, database.store)
    Thread.detachNewThread { [server, store] in
      _ = try? server.sql(
        """
        begin; select pg_advisory_xact_lock(\(Schema.lockClass), id)
          from stored_objects.stores where name = '\(store)';
        select pg_sleep(3600)
        """)
    }
    while try server.sql("select count(*) \(sessions)") == "0" { usleep(5000) }
  }

  private var sessions: String {
    "from pg_stat_activity where wait_event = 'PgSleep' and query like '%\(store)%'"
  }

  /// Ends the session that holds the lock.
  func release() throws {
    _ = try server.sql("select pg_terminate_backend(pid, 60000) \(sessions)")
  }
}

/// Waits for a condition; returns whether it was met within minutes.
func isMet(_ condition: () throws -> Bool) async rethrows -> Bool {
  for _ in 0..<60_000 {
    if try condition() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return false
}
