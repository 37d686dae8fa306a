import StoreFormats
import StoredObjectsTestSupport
import Testing

@Suite("The promises of the backends with encryption")
struct EncryptedConformanceTests {
  @Test(
    "An encrypted backend keeps its promises", arguments: StoreFormat.allCases,
    BackendConformance.checks)
  func conformance(_ kind: StoreFormat, _ check: BackendConformance.Check) throws {
    try kind.withLocation { try check.run($0) }
  }

  @Test(
    "After thousands of random operations an encrypted store equals a model of plain values",
    arguments: StoreFormat.allCases)
  func randomOperations(_ kind: StoreFormat) throws {
    var random = Seeds.generator(for: "encrypted random operations, \(kind)")
    let seed = random.next()
    try kind.withLocation { try RandomStoreTest(seed: seed, steps: 300).run($0) }
  }
}
