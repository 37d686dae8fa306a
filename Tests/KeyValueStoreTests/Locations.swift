import Foundation
import KeyValueStore
import Locks
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestServer
import TestedBackends
import Testing

/// A kind of place in which the behaviour of stores is tried.
enum TestedPlace: Equatable, Sendable {
  case backend(TestedBackend)
  case postgreSQL(isEncrypted: Bool)

  static let all =
    TestedBackend.allCases.map { TestedPlace.backend($0) }
    + (TestServer.isAvailable
      ? [.postgreSQL(isEncrypted: false), .postgreSQL(isEncrypted: true)] : [])

  /// The number of steps of random work; all places together take 20 seconds.
  var randomStepCount: Int {
    switch self {
    case .backend(.memory): 600
    case .backend: 250
    case .postgreSQL: 80
    }
  }

  func withLocation<Result>(_ body: (Location) throws -> Result) throws -> Result {
    try withTemporaryDirectory { try body(Location(kind: self, path: $0 + "/store")) }
  }

  /// Lets a test use an empty table of a new store.
  func withTable(_ body: (KeyValueTable, TestClock) throws -> Void) throws {
    try withLocation { location in
      let store = try location.open()
      try body(store.createTable("table"), location.clock)
      try store.close()
    }
  }
}

extension TestedPlace: CustomStringConvertible {
  var description: String {
    switch self {
    case .backend(let kind): "\(kind)"
    case .postgreSQL(let isEncrypted): isEncrypted ? "encrypted PostgreSQL" : "PostgreSQL"
    }
  }
}

extension TestedBackend {
  func withLocation<Result>(_ body: (Location) throws -> Result) throws -> Result {
    try TestedPlace.backend(self).withLocation(body)
  }

  func withTable(_ body: (KeyValueTable, TestClock) throws -> Void) throws {
    try TestedPlace.backend(self).withTable(body)
  }
}

/// A place where a store can be opened again and again.
struct Location {
  let kind: TestedPlace
  let path: String
  private let name = UUID().uuidString
  let disk = MemoryDisk()
  let clock = TestClock()

  func open(readOnly: Bool = false) throws -> KeyValueStore {
    let clock = clock
    return try KeyValueStore(backend: backend(readOnly)) { clock.now }
  }

  private func backend(_ readOnly: Bool) throws -> any StoreBackend {
    switch kind {
    case .backend(.memory): return try MemoryBackend(disk: disk, isReadOnly: readOnly)
    case .backend(let kind): return try kind.open(path, readOnly: readOnly)
    case .postgreSQL(let isEncrypted):
      var configuration = PostgreSQLConfiguration()
      configuration.access = readOnly ? .readOnly : .readWrite
      return try PostgreSQLBackend(
        TestServer.shared.get().url(), store: name, key: isEncrypted ? TestedBackend.key : nil,
        configuration: configuration)
    }
  }
}

/// A clock that moves when a test says so.
final class TestClock: Sendable {
  private let date = Locked(Date(timeIntervalSinceReferenceDate: 800_000_000))
  var now: Date { date.withLock { $0 } }
  func advance(_ seconds: TimeInterval) { date.withLock { $0 += seconds } }
}

/// An item without its times, to compare.
struct Pair: Equatable {
  let key: String
  let value: StoredValue
  init(_ item: KeyValueItem) { (key, value) = (item.key, item.value) }
  init(_ key: String, _ value: StoredValue) { (self.key, self.value) = (key, value) }
}

/// The code of the error that a closure throws.
func code(_ body: () throws -> Void) -> String {
  do {
    try body()
    return "none"
  } catch let error as StoreError {
    return "\(error.code)"
  } catch {
    return "\(error)"
  }
}
