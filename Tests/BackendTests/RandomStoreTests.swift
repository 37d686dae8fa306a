import FoundationEssentials
import StoredObjectsTestSupport
import Testing

@Suite struct RandomStoreTests {
  /// The seed of the environment variable STOREDOBJECTS_TEST_SEED, or one that differs each time.
  private static let seed: UInt64 =
    ProcessInfo.processInfo.environment["STOREDOBJECTS_TEST_SEED"].flatMap(UInt64.init)
    ?? .random(in: 0..<1_000_000_000)

  @Test(
    "After thousands of random operations a store holds what plain values say",
    arguments: BackendKind.plain, [0, 1, 2, 3] as [UInt64])
  func randomOperations(_ kind: BackendKind, _ offset: UInt64) throws {
    let steps = kind == .memory ? 1_500 : 300
    try kind.withPlace { try RandomStoreTest(seed: Self.seed + offset, steps: steps).run($0) }
  }
}
