import StoredObjectsTestSupport
import TestedBackends
import Testing

@Suite struct RandomStoreTests {
  @Test(
    "After thousands of random operations a store equals a model of plain values",
    arguments: TestedBackend.plain, [0, 1, 2, 3] as [UInt64])
  func randomOperations(_ kind: TestedBackend, _ offset: UInt64) throws {
    let steps = kind == .memory ? 1_500 : 300
    var random = Seeds.generator(for: "random operations, \(kind), \(offset)")
    let seed = random.next() &+ offset
    try kind.withLocation { try RandomStoreTest(seed: seed, steps: steps).run($0) }
  }
}
