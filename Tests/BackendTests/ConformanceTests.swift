import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

extension BackendLocation {
  /// Opens a store of some classes, whose backend the test closes.
  func openStore(of types: StoredObject.Type...) throws -> Store {
    let store = Store(backend: try open())
    try store.register(types)
    return store
  }
}

@Suite struct ConformanceTests {
  @Test(
    "A backend keeps its promises",
    arguments: TestedBackend.plain, BackendConformance.checks)
  func conformance(_ kind: TestedBackend, _ check: BackendConformance.Check) throws {
    try kind.withLocation { try check.run($0) }
  }

  @Test(
    "A backend keeps its promises behind one that can fail",
    arguments: BackendConformance.checks)
  func failingBackend(_ check: BackendConformance.Check) throws {
    struct FailingLocation: BackendLocation {
      let location = MemoryLocation()
      func open(readOnly: Bool) throws -> any StoreBackend {
        FailingBackend(try location.open(readOnly: readOnly))
      }
    }
    try check.run(FailingLocation())
  }
}
