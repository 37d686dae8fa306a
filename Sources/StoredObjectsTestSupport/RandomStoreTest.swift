import StoredObjectsCore

/// Thousands of random operations on a store, each done to plain values as well, and compared.
///
///     try RandomStoreTest(seed: 1, steps: 5_000).run(MemoryLocation())
///
/// It inserts, edits and deletes (with and without delete rules), edits and reorders lists with
/// repeats, saves, lets saves fail, discards, opens the place anew, edits while it enumerates, and
/// lets a second store on the same backend do the same. A failure names the seed and the step.
public struct RandomStoreTest {
  /// A failure of the test, with what repeats it.
  public struct Failure: Error, CustomStringConvertible {
    /// The seed, the step, and what went wrong there.
    public let description: String
  }

  private let seed: UInt64
  private let steps: Int

  /// Sets up a test of so many operations.
  public init(seed: UInt64, steps: Int) {
    self.seed = seed
    self.steps = steps
  }

  /// Runs the test on a place that nothing has been written to.
  ///
  /// - Throws: ``Failure``.
  public func run(_ location: some BackendLocation) throws {
    var step = 0
    var last = "opening"
    do {
      let runner = try RandomStoreRunner(location, seed: seed)
      while step < steps {
        last = try runner.step()
        step += 1
      }
      last = "the end"
      try runner.finish()
    } catch {
      throw Failure(
        description: "STOREDOBJECTS_TEST_SEED=\(seed), step \(step), after \(last): \(error)")
    }
  }
}

/// Random numbers that a seed repeats (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
