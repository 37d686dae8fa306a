import CDBBackend
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

/// The backends that every check runs on.
enum BackendKind: String, CaseIterable, CustomTestStringConvertible {
  case memory
  case tokyoCabinet
  case cdb

  var testDescription: String { rawValue }

  /// Lets a test use a place of this kind that nothing has been written to.
  func withPlace(_ body: (any BackendPlace) throws -> Void) throws {
    switch self {
    case .memory: try body(MemoryPlace())
    case .tokyoCabinet:
      try TokyoFixtures.withDirectory { try body(TokyoCabinetPlace(directory: $0)) }
    case .cdb:
      try TokyoFixtures.withDirectory { try body(CDBPlace(directory: $0)) }
    }
  }
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

  func open(readOnly: Bool) throws -> any StoreBackend {
    try TokyoCabinetBackend(
      directory: directory, configuration: .init(access: readOnly ? .readOnly : .readWrite))
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
    arguments: BackendKind.allCases, BackendConformance.checks)
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
