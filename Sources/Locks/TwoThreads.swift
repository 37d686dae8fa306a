/// Work that two threads share.
package enum TwoThreads {
  /// With fewer records or keys a thread costs more than it helps.
  package static let minimumCount = 20_000

  /// Does both halves of a range at the same time; one after the other when no thread is to be had.
  ///
  /// - Returns: what the first half has come to, and the second.
  /// - Throws: what the first half throws, or else the second.
  package static func halves<Half: Sendable, Failure: Error>(
    of range: Range<Int>, _ body: @escaping @Sendable (Range<Int>) throws(Failure) -> Half
  ) throws(Failure) -> (first: Half, second: Half) {
    let middle = range.lowerBound + range.count / 2
    let back = middle..<range.upperBound
    let second = JoinedResult { Result { () throws(Failure) in try body(back) } }
    let first = try body(range.lowerBound..<middle)
    if let found = second?.take() { return (first, try found.get()) }
    return (first, try body(back))
  }
}
