import Foundation
import LiveResultsTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Live results under random changes")
struct RandomLiveResultsTests {
  /// The number of saves on each backend; some, in a time that is short, unless it is set.
  private static let saves = ProcessInfo.processInfo.environment["STOREDOBJECTS_LIVE_SAVES"]
    .flatMap { Int($0) }

  @Test(
    """
    After random changes by several stores, live results equal a new fetch, their lists of changes \
    lead to them, and observers are notified of every change
    """, arguments: TestedBackend.allCases)
  func results(_ kind: TestedBackend) throws {
    if let seed = Self.seed { return _ = try run(kind, seed) { false } }
    var random = Seeds.generator(for: "live results, \(kind)")
    let end = ContinuousClock.now + .seconds(1.5)
    var saves = 0
    func isDone() -> Bool {
      guard let wanted = Self.saves else { return ContinuousClock.now > end }
      return saves >= wanted
    }
    while !isDone() { saves += try run(kind, random.next(), until: isDone) }
    print("\(kind): \(saves) saves")
  }

  /// The seed of a run to repeat.
  private static let seed = ProcessInfo.processInfo.environment["STOREDOBJECTS_LIVE_SEED"]
    .flatMap { UInt64($0) }

  private func run(
    _ kind: TestedBackend, _ seed: UInt64, until isDone: () -> Bool
  ) throws -> Int {
    try withTemporaryDirectory { directory in
      try LiveRun.saves(on: open(kind, directory), seed: seed, until: isDone)
    }
  }

  private func open(_ kind: TestedBackend, _ directory: String) throws -> any StoreBackend {
    if kind == .memory { return try MemoryLocation().open() }
    return try kind.open(
      directory + "/store", durability: .none,
      limits: CheckpointLimits(logBytes: 64 << 10, filePart: 4, bulkBytes: 20_000))
  }
}
