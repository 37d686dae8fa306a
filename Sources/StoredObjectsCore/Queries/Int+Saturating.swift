import StoreEngine

extension Int {
  /// The sum of two numbers that are not negative, or the greatest number where it would be more.
  func addingSaturated(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
