internal import CFiles

/// Work that two threads share.
package enum TwoThreads {
  /// The number of records or keys below which a second thread costs more than it saves.
  private static let minimumCount = 20_000

  /// Whether there is a processor for a second thread, which only costs on a single one.
  package static var areUseful: Bool { files_processor_count() > 1 }

  /// Whether a second thread saves more than it costs for a number of records or keys.
  package static func areUseful(for count: Int) -> Bool { count >= minimumCount && areUseful }

  /// Runs both halves of a range at the same time, or one after another if no thread or no processor
  /// is available.
  ///
  /// - Returns: The results of the first and the second half.
  /// - Throws: The error of the first half, or else of the second.
  package static func halves<Half: Sendable, Failure: Error>(
    of range: Range<Int>, _ body: @escaping @Sendable (Range<Int>) throws(Failure) -> Half
  ) throws(Failure) -> (first: Half, second: Half) {
    let middle = range.lowerBound + range.count / 2
    let back = middle..<range.upperBound
    let second =
      areUseful ? JoinedResult { Result { () throws(Failure) in try body(back) } } : nil
    let first = try body(range.lowerBound..<middle)
    if let found = second?.take() { return (first, try found.get()) }
    return (first, try body(back))
  }
}
