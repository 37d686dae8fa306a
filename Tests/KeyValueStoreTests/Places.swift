import CDBBackend
import Foundation
import KeyValueStore
import Locks
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import Testing

/// Where the stores of a test are: every test runs on each.
enum PlaceKind: String, CaseIterable, CustomTestStringConvertible {
  case memory, tokyoCabinet, cdb, encryptedTokyoCabinet, encryptedCDB

  /// The key of the encrypted ones, which costs nothing to derive.
  var key: EncryptionKey? {
    switch self {
    case .memory, .tokyoCabinet, .cdb: nil
    case .encryptedTokyoCabinet, .encryptedCDB: EncryptionKey(bytes: (0..<32).map { UInt8($0) })
    }
  }

  var testDescription: String { rawValue }

  func withPlace<Result>(_ body: (Place) throws -> Result) throws -> Result {
    try withTemporaryDirectory { try body(Place(kind: self, path: $0 + "/store")) }
  }

  /// Lets a test use an empty table of a new store.
  func withTable(_ body: (KeyValueTable, TestClock) throws -> Void) throws {
    try withPlace { place in
      let store = try place.open()
      try body(store.createTable("table"), place.clock)
      try store.close()
    }
  }
}

/// A place where a store can be opened again and again.
struct Place {
  let kind: PlaceKind
  let path: String
  let disk = MemoryDisk()
  let clock = TestClock()

  func open(readOnly: Bool = false) throws -> KeyValueStore {
    let clock = clock
    return try KeyValueStore(backend: backend(readOnly)) { clock.now }
  }

  private func backend(_ readOnly: Bool) throws -> any StoreBackend {
    switch kind {
    case .memory: try MemoryBackend(disk: disk, isReadOnly: readOnly)
    case .tokyoCabinet, .encryptedTokyoCabinet:
      try TokyoCabinetBackend(
        directory: path, configuration: .init(access: readOnly ? .readOnly : .readWrite),
        key: kind.key)
    case .cdb, .encryptedCDB:
      try CDBBackend(
        directory: path, configuration: .init(access: readOnly ? .readOnly : .readWrite),
        key: kind.key)
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
  } catch let error as KeyValueError {
    return "\(error.code)"
  } catch let error as StoreError {
    return "\(error.code)"
  } catch {
    return "\(error)"
  }
}
