package import FoundationEssentials
import Synchronization

/// The token of a commit, as two integers: commits are copied often, and copies of Foundation's
/// types call the runtime.
package struct CommitToken: Hashable, Sendable {
  /// The first byte of the UUID is the highest byte of the first integer.
  package let high, low: UInt64

  /// All zeros, for a commit of a version without tokens.
  static let zero = CommitToken(high: 0, low: 0)

  init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  /// Creates the token of a UUID.
  package init(_ uuid: UUID) {
    let b = uuid.uuid
    high = Self.number(b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7)
    low = Self.number(b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15)
  }

  private static func number(_ bytes: UInt8...) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The token as users know it.
  var uuid: UUID { UUID(high: high, low: low) }
}

/// A generator of unique tokens: a random half followed by a counter.
///
/// A random number for every token would take a system call each. The format is version 8 of RFC
/// 9562, which leaves the bits to the program.
struct TokenSource: ~Copyable, Sendable {
  /// Zero until the first token: many stores are opened and never changed.
  private let random = Atomic<UInt64>(0)
  private let count = Atomic<UInt64>(0)

  func next() -> CommitToken {
    let count = count.add(1, ordering: .relaxed).newValue
    return CommitToken(
      high: randomHalf() & ~0xF000 | 0x8000, low: count & (1 << 62 - 1) | 1 << 63)
  }

  private func randomHalf() -> UInt64 {
    let known = random.load(ordering: .relaxed)
    if known != 0 { return known }
    let new = UInt64.random(in: 1 ... .max)
    let (isFirst, other) = random.compareExchange(expected: 0, desired: new, ordering: .relaxed)
    return isFirst ? new : other
  }
}
