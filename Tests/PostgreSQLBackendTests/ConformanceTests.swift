import StoredObjectsCore
import StoredObjectsTestSupport
import TestServer
import Testing

@Suite("A backend on PostgreSQL", .needsServer)
struct ConformanceTests {
  @Test("It keeps the promises of a backend", arguments: TestDatabase.checks)
  func conformance(_ check: BackendConformance.Check) throws {
    try check.run(try TestDatabase())
  }

  @Test(
    "After hundreds of random operations a store equals a model of plain values",
    arguments: [0, 1, 2] as [UInt64])
  func randomOperations(_ offset: UInt64) throws {
    var random = Seeds.generator(for: "random operations, PostgreSQL, \(offset)")
    let seed = random.next() &+ offset
    try RandomStoreTest(seed: seed, steps: 250).run(try TestDatabase())
  }
}
