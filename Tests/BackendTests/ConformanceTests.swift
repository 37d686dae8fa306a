import CDBBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

/// The backends that queries, indexes and searches are tried on, too.
enum BackendKind: String, CaseIterable, CustomTestStringConvertible {
  case memory
  case tokyoCabinet
  case cdb
  /// The default one, encrypted.
  case encrypted

  /// Those whose own promises are tried here: encryption has its own tests of them.
  static let plain: [BackendKind] = [.memory, .tokyoCabinet, .cdb]

  var testDescription: String { rawValue }

  /// Lets a test use a place of this kind that nothing has been written to.
  func withPlace(_ body: (any BackendPlace) throws -> Void) throws {
    switch self {
    case .memory: try body(MemoryPlace())
    case .tokyoCabinet:
      try TokyoFixtures.withDirectory { try body(TokyoCabinetPlace(directory: $0)) }
    case .cdb:
      try TokyoFixtures.withDirectory { try body(CDBPlace(directory: $0)) }
    case .encrypted:
      try TokyoFixtures.withDirectory {
        try body(TokyoCabinetPlace(directory: $0, key: Self.key))
      }
    }
  }

  /// One that costs nothing to derive.
  private static let key = EncryptionKey(bytes: (0..<32).map { UInt8($0) })
}

extension BackendPlace {
  /// Opens a store of some classes, whose backend the test closes.
  func openStore(of types: StoredObject.Type...) throws -> Store {
    let store = Store(backend: try open())
    try store.register(types)
    return store
  }
}

/// A directory, on which `TokyoCabinetBackend`s are opened.
struct TokyoCabinetPlace: BackendPlace {
  let directory: String
  var key: EncryptionKey?

  func open(readOnly: Bool) throws -> any StoreBackend {
    try TokyoCabinetBackend(
      directory: directory, configuration: .init(access: readOnly ? .readOnly : .readWrite),
      key: key)
  }
}

/// A directory, on which `CDBBackend`s are opened.
struct CDBPlace: BackendPlace {
  let directory: String

  func open(readOnly: Bool) throws -> any StoreBackend {
    try CDBBackend(
      directory: directory, configuration: .init(access: readOnly ? .readOnly : .readWrite))
  }
}

@Suite struct ConformanceTests {
  @Test(
    "A backend keeps its promises",
    arguments: BackendKind.plain, BackendConformance.checks)
  func conformance(_ kind: BackendKind, _ check: BackendConformance.Check) throws {
    try kind.withPlace { try check.run($0) }
  }

  @Test(
    "A backend keeps its promises behind one that may fail",
    arguments: BackendConformance.checks)
  func failingBackend(_ check: BackendConformance.Check) throws {
    struct FailingPlace: BackendPlace {
      let place = MemoryPlace()
      func open(readOnly: Bool) throws -> any StoreBackend {
        FailingBackend(try place.open(readOnly: readOnly))
      }
    }
    try check.run(FailingPlace())
  }
}
