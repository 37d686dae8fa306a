import FoundationEssentials

/// A generator of repeatable random numbers: a seed gives the same numbers on every machine.
///
/// A randomized test gets a generator from ``Seeds``, which prints the seed.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator from a seed.
  public init(seed: UInt64) { state = seed }

  /// Returns the next 64 random bits (SplitMix64).
  ///
  /// Complexity: Constant time.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}

/// The seed of the randomized tests in a run.
///
/// Each run has a new seed, unless the environment sets one. To repeat a failure, run
///
///     STOREDOBJECTS_TEST_SEED=42 swift test --filter <the test>
public enum Seeds {
  /// The environment variable that sets the seed, in decimal.
  public static let environmentVariable = "STOREDOBJECTS_TEST_SEED"

  /// The seed of this run.
  ///
  /// - Precondition: The environment variable, if set, is a number from 0 to `UInt64.max`.
  public static let current: UInt64 = {
    guard let text = ProcessInfo.processInfo.environment[environmentVariable] else {
      return .random(in: 0 ... .max)
    }
    guard let seed = UInt64(text) else {
      preconditionFailure("\(environmentVariable) is \"\(text)\", which is no number.")
    }
    return seed
  }()

  /// Returns a generator for one test, and prints how to repeat the test.
  ///
  /// - Parameter test: A description of the test, for the log.
  /// - Returns: The generator, which starts with the seed of the run.
  public static func generator(for test: String) -> SeededGenerator {
    print("\(environmentVariable)=\(current) repeats: \(test)")
    return SeededGenerator(seed: current)
  }
}
