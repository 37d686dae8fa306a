#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Waits, a little longer each time, until a deadline.
package struct Backoff {
  private let deadline: ContinuousClock.Instant
  private var next = Duration.milliseconds(1)
  private static let longest = Duration.milliseconds(20)

  /// Begins to wait for so long at most.
  package init(_ timeout: Duration) { deadline = ContinuousClock.now + timeout }

  /// Pauses the thread.
  ///
  /// - Returns: False, without a pause, when the deadline has passed.
  package mutating func pause() -> Bool {
    let rest = ContinuousClock.now.duration(to: deadline)
    guard rest > .zero else { return false }
    sleep(for: min(next, rest))
    next = min(next * 2, Self.longest)
    return true
  }

  private func sleep(for duration: Duration) {
    usleep(UInt32(clamping: duration.components.attoseconds / 1_000_000_000_000))
  }
}
