import StoredObjectsTestSupport
import Testing

@Suite("The backends' promises, encrypted")
struct EncryptedConformanceTests {
  @Test(
    "An encrypted backend keeps its promises", arguments: EncryptedBackend.allCases,
    BackendConformance.checks)
  func conformance(_ kind: EncryptedBackend, _ check: BackendConformance.Check) throws {
    try kind.withPlace { try check.run($0) }
  }

  @Test(
    "After thousands of random operations an encrypted store holds what plain values say",
    arguments: EncryptedBackend.allCases)
  func randomOperations(_ kind: EncryptedBackend) throws {
    var random = Seeds.generator(for: "encrypted random operations, \(kind)")
    let seed = random.next()
    try kind.withPlace { try RandomStoreTest(seed: seed, steps: 300).run($0) }
  }
}
