import StoreEngine

extension Int {
  /// Returns the sum of two nonnegative numbers, or `Int.max` if it overflows.
  func addingSaturated(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
