import StoredObjectsCore

/// A test that compares thousands of random operations on a store with plain values.
///
///     try RandomStoreTest(seed: 1, steps: 5_000).run(MemoryLocation())
///
/// The operations insert, edit and delete objects (with and without delete rules), and edit and
/// reorder lists with repeats. They save, let saves fail, discard changes, reopen the location, and
/// edit during enumerations. A second store on the same backend makes changes, too. A failure has
/// the seed and the step.
public struct RandomStoreTest {
  /// The failure of a test, with the information to repeat it.
  public struct Failure: Error, CustomStringConvertible {
    /// The seed, the step, and the error.
    public let description: String
  }

  private let seed: UInt64
  private let steps: Int

  /// Creates a test with a number of operations.
  public init(seed: UInt64, steps: Int) {
    self.seed = seed
    self.steps = steps
  }

  /// Runs the test at a location that nothing has been written to.
  ///
  /// Complexity: linear in the number of steps, some of which read the whole store.
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

/// A generator of random numbers that are determined by a seed (SplitMix64).
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
