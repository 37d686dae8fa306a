import Locks

/// Work that two threads share.
enum TwoThreads {
  /// Does both halves of a range at the same time; one after the other when no thread is to be had.
  ///
  /// - Returns: what the first half has come to, and the second.
  /// - Throws: what the first half throws, or else the second.
  static func halves<Half: Sendable>(
    of range: Range<Int>, _ body: @escaping @Sendable (Range<Int>) throws -> Half
  ) throws -> (first: Half, second: Half) {
    let middle = range.lowerBound + range.count / 2
    let second = Locked<Result<Half, any Error>?>(nil)
    var thread = JoinedThread {
      let half = Result { try body(middle..<range.upperBound) }
      second.withLock { $0 = half }
    }
    let first = Result { try body(range.lowerBound..<middle) }
    let hasThread = thread != nil
    // Waits for it.
    thread = nil
    let rest = second.withLock { half in
      defer { half = nil }
      return half
    }
    precondition(!hasThread || rest != nil, "the thread has come to its end")
    return (try first.get(), try rest?.get() ?? body(middle..<range.upperBound))
  }
}
