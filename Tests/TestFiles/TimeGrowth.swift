/// How much longer a work takes with four times as many of something.
///
/// In proportion it is 4, and 16 if the time grows with the square. Other tests may take the
/// processor meanwhile, so the best of several tries counts.
///
/// - Parameters:
///   - count: The larger number.
///   - work: Does it with so many.
/// - Returns: the longer time, divided by the shorter one.
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
