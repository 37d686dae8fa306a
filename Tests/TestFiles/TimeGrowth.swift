/// Returns the growth of a work's time when its size becomes four times as large.
///
/// It is 4 for linear time, and 16 for quadratic time. Other tests may use the processor meanwhile,
/// so the best of several tries counts.
///
/// - Parameters:
///   - count: The larger size.
///   - work: Performs the work for a size.
/// - Returns: The longer time divided by the shorter one.
package func timeGrowth(upTo count: Int, _ work: (Int) throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  try work(count / 16)
  var best = Double.infinity
  for _ in 0..<3 where best > 6 {
    let few = try clock.measure { try work(count / 4) }
    best = min(best, try clock.measure { try work(count) } / few)
  }
  return best
}
