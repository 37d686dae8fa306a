import Locks
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore
@testable import TokyoCabinetBackend

/// A directory on whose backends the log is folded again and again.
struct TinyLimitsLocation: BackendLocation {
  let directory: String
  /// Whether saves go on in a second log meanwhile.
  var foldsBeside = false
  let counter = CheckpointCounter()

  func open(readOnly: Bool) throws -> any StoreBackend {
    var limits = CheckpointLimits(logBytes: 200, filePart: 1 << 30, bulkBytes: 2000)
    limits.logGrowth = 8 << 10
    if foldsBeside {
      // Saves end the folding when three times as much is in the log.
      limits.logBytes = 60
      (limits.besideBytes, limits.foldsOnThread) = (0, false)
    }
    let backend = try TokyoCabinetBackend(
      files: TokyoCabinetFiles(
        directory: directory,
        configuration: .init(access: readOnly ? .readOnly : .readWrite, durability: .process)),
      durability: .process, limits: limits)
    counter.add(backend)
    return backend
  }
}

/// Counts the checkpoints of all backends of a place.
final class CheckpointCounter: Sendable {
  private let backends = Locked<[TokyoCabinetBackend]>([])

  func add(_ backend: TokyoCabinetBackend) { backends.withLock { $0.append(backend) } }
  var total: Int { backends.withLock { $0.reduce(0) { $0 + $1.checkpointCount } } }
}

@Suite("Constant checkpoints")
struct TinyLimitsTests {
  @Test("A backend that folds its log constantly keeps its promises", arguments: [false, true])
  func conformance(_ foldsBeside: Bool) throws {
    var total = 0
    for check in BackendConformance.checks {
      // A later commit may end the folding of an earlier one, after which scans look rows up.
      if foldsBeside, check.name.contains("does not disturb a scan") { continue }
      try TokyoFixtures.withDirectory { directory in
        let location = TinyLimitsLocation(directory: directory, foldsBeside: foldsBeside)
        try check.run(location)
        total += location.counter.total
      }
    }
    #expect(total > 100)
    print("the conformance suite made \(total) checkpoints")
  }

  @Test(
    "Random operations with constant checkpoints equal a model of plain values",
    arguments: [false, true])
  func randomOperations(_ foldsBeside: Bool) throws {
    var generator = Seeds.generator(for: "checkpoints at every turn")
    // A single run may save so seldom that it makes 3 checkpoints only.
    var total = 0
    for _ in 0..<4 {
      let seed = generator.next() >> 32
      try TokyoFixtures.withDirectory { directory in
        let location = TinyLimitsLocation(directory: directory, foldsBeside: foldsBeside)
        try RandomStoreTest(seed: seed, steps: 150).run(location)
        total += location.counter.total
      }
    }
    #expect(total > 10)
    print("the model tests made \(total) checkpoints")
  }
}
