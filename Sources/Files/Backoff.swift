#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A sequence of pauses, each a little longer, until a deadline.
package struct Backoff {
  private let deadline: ContinuousClock.Instant
  private var next = Duration.milliseconds(1)
  private static let longest = Duration.milliseconds(20)

  /// Begins to wait, up to a maximum time.
  package init(_ timeout: Duration) { deadline = ContinuousClock.now + timeout }

  /// Pauses the thread.
  ///
  /// - Returns: false, without a pause, if the deadline has passed.
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
