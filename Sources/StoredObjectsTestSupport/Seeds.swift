import FoundationEssentials

/// Random numbers that can be had again: the same seed gives the same numbers on every machine.
///
/// A randomized test asks ``Seeds`` for one and prints the seed.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Starts the numbers of a seed.
  public init(seed: UInt64) { state = seed }

  /// The next 64 random bits (SplitMix64).
  ///
  /// Complexity: constant time.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}

/// The seed of the randomized tests of a run.
///
/// Each run has a seed of its own, unless the environment names one; a failure is repeated by
///
///     STOREDOBJECTS_TEST_SEED=42 swift test --filter <the test>
public enum Seeds {
  /// The environment variable that sets the seed, in decimal.
  public static let environmentVariable = "STOREDOBJECTS_TEST_SEED"

  /// The seed of this run.
  ///
  /// - Precondition: the environment variable, if set, holds a number from 0 to `UInt64.max`.
  public static let current: UInt64 = {
    guard let text = ProcessInfo.processInfo.environment[environmentVariable] else {
      return .random(in: 0 ... .max)
    }
    guard let seed = UInt64(text) else {
      preconditionFailure("\(environmentVariable) is \"\(text)\", which is no number.")
    }
    return seed
  }()

  /// A generator for one test, which starts with the seed of the run; prints how to repeat the
  /// test.
  ///
  /// - Parameter test: What is being tested, for the reader of the log.
  /// - Returns: the numbers of the run's seed, from the first one.
  public static func generator(for test: String) -> SeededGenerator {
    print("\(environmentVariable)=\(current) repeats: \(test)")
    return SeededGenerator(seed: current)
  }
}
