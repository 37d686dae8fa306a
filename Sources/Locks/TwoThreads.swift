/// Work that two threads share.
package enum TwoThreads {
  /// The number of records or keys below which a second thread costs more than it saves.
  package static let minimumCount = 20_000

  /// Runs both halves of a range at the same time, or one after another if no thread is available.
  ///
  /// - Returns: The results of the first and the second half.
  /// - Throws: The error of the first half, or else of the second.
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
