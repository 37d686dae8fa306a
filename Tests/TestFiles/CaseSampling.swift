import Foundation

/// Decides which of many similar cases a run tests.
///
/// A run tests a sample, and the seed of the run decides which one. Set the environment variable
/// `STOREDOBJECTS_ALL_CASES` to test all of them.
public struct CaseSampling {
  private let step: Int
  private let first: Int

  /// Creates a sample of every `step`th case.
  ///
  /// - Parameters:
  ///   - step: The distance of two tested cases, at least 1.
  ///   - generator: Chooses the first tested case.
  public init(every step: Int, using generator: inout some RandomNumberGenerator) {
    let isWhole = ProcessInfo.processInfo.environment["STOREDOBJECTS_ALL_CASES"] != nil
    self.step = isWhole ? 1 : step
    first = Int.random(in: 0..<self.step, using: &generator)
  }

  /// Whether a case is tested.
  ///
  /// - Parameter number: The number of the case, at least 0.
  /// - Returns: True for every `step`th number.
  public func includes(_ number: Int) -> Bool { number % step == first }
}
