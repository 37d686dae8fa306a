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
    var random = Seeds.generator(for: "live results, \(kind)")
    let end = ContinuousClock.now + .seconds(1.5)
    var saves = 0
    func isDone() -> Bool {
      guard let wanted = Self.saves else { return ContinuousClock.now > end }
      return saves >= wanted
    }
    while !isDone() {
      let seed = random.next()
      try withTemporaryDirectory { directory in
        let backend: any StoreBackend =
          kind == .memory
          ? try MemoryLocation().open()
          : try kind.open(
            directory + "/store", durability: .none,
            limits: CheckpointLimits(logBytes: 64 << 10, filePart: 4, bulkBytes: 20_000))
        var run = try LiveRun(backend, seed: seed)
        for _ in 0..<400 where !isDone() { try run.step() }
        try run.finish()
        saves += run.saves
      }
    }
    print("\(kind): \(saves) saves")
  }
}
