/// Returns seconds as a text such as 3:07 or 1:02:45.
func duration(_ seconds: Int64) -> String {
  let sign = seconds < 0 ? "-" : ""
  let (minutes, rest) = seconds.magnitude.quotientAndRemainder(dividingBy: 60)
  if minutes < 60 { return "\(sign)\(minutes):\(twoDigits(rest))" }
  return "\(sign)\(minutes / 60):\(twoDigits(minutes % 60)):\(twoDigits(rest))"
}

private func twoDigits(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }

extension Sequence<Int64> {
  /// The sum, or the largest or smallest number if the sum overflows.
  ///
  /// Imported files can have any lengths.
  var clampedSum: Int64 {
    reduce(0) { sum, next in
      let (result, overflow) = sum.addingReportingOverflow(next)
      return overflow ? (next < 0 ? .min : .max) : result
    }
  }
}
