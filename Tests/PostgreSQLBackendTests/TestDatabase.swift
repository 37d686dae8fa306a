import Foundation
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestServer
import Testing

/// A store of a name of its own in the database of the tests.
struct TestDatabase: BackendLocation {
  let server: TestServer
  let store: String
  let key: EncryptionKey?

  /// Keys for tests that run without encryption and with it.
  static let keys: [EncryptionKey?] = [nil, EncryptionKey(bytes: Array(repeating: 7, count: 32))]

  /// The checks for a backend that keeps nobody out.
  static let checks = BackendConformance.checks.filter { check in
    !["inUse", "Closing twice"].contains(where: check.name.contains)
  }

  init(key: EncryptionKey? = nil) throws {
    self.key = key
    server = try TestServer.shared.get()
    store = UUID().uuidString
  }

  /// Opens a backend, directly or through a proxy.
  func backend(
    through proxy: TestProxy? = nil, role: String = "postgres", database: String = "postgres",
    _ configuration: PostgreSQLConfiguration = .init()
  ) throws -> PostgreSQLBackend {
    try PostgreSQLBackend(
      server.url(role: role, database: database, through: proxy?.directory), store: store, key: key,
      configuration: configuration)
  }

  /// Opens a backend whose sessions are found by the name of their application.
  func backend(
    named name: String, maximumConnectionCount: Int = 8
  ) throws -> PostgreSQLBackend {
    var configuration = PostgreSQLConfiguration()
    configuration.maximumConnectionCount = maximumConnectionCount
    return try PostgreSQLBackend(
      "\(server.url())?application_name=\(name)", store: store, key: key,
      configuration: configuration)
  }

  /// Ends the sessions of a backend.
  func endSessions(of name: String) throws {
    try server.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = '\(name)'")
  }

  func open(readOnly: Bool) throws -> any StoreBackend {
    var configuration = PostgreSQLConfiguration()
    if readOnly { configuration.access = .readOnly }
    return try backend(configuration)
  }

  /// Makes a database of its own.
  func newDatabase(_ suffix: String = "UTF8") throws -> String {
    let name = "db_\(UUID().uuidString.prefix(8).lowercased())"
    try server.sql("create database \(name) template template0 encoding '\(suffix)'")
    return name
  }
}

/// Skips what needs a server where there is none.
extension Trait where Self == ConditionTrait {
  static var needsServer: Self {
    .enabled(if: TestServer.isAvailable, "PostgreSQL isn't installed: ./dev setup installs it")
  }
}

extension StoreBackend {
  /// The bytes of a record.
  func record(_ row: UInt32, in table: TableID) throws(StoreError) -> [UInt8]? {
    var bytes: [UInt8] = []
    return try copyRecord(row, in: table, to: &bytes) ? bytes : nil
  }
}

/// A change set of one record.
func change(
  _ kind: ChangeSet.Kind, _ row: UInt32, _ bytes: [UInt8], _ table: TableID
) -> ChangeSet {
  ChangeSet(
    bytes: bytes,
    tables: [
      .init(table: table, records: [.init(kind: kind, rowID: row, range: 0..<bytes.count)])
    ])
}

/// The error of a closure.
func storeError(_ body: () throws -> Void) -> StoreError? {
  do { try body() } catch { return error as? StoreError }
  return nil
}

final class Song: StoredObject {
  @Content var title = ""
  @Content var plays = 0

  override func writeContent(to buffer: inout DataBuffer) throws {
    buffer.write(title)
    buffer.write(plays)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    plays = try buffer.read()
  }
}
