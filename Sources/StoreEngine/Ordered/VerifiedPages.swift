import Synchronization

/// The set of verified pages of a file: a bit for each 16 bytes, because pages are larger.
///
/// Any number of threads can use it at once without waiting.
final class VerifiedPages: Sendable {
  private let parts: [Part]

  /// The bits for 64 KiB of the file.
  private final class Part: Sendable {
    let words = InlineArray<64, Atomic<UInt64>> { _ in Atomic(0) }
  }

  /// Creates an empty set for a file of the given size.
  init(fileSize: Int) { parts = (0...fileSize >> 16).map { _ in Part() } }

  /// Whether the page at an offset has been verified.
  func contains(_ offset: Int) -> Bool {
    parts[offset >> 16].words[offset >> 10 & 63].load(ordering: .relaxed) & Self.bit(offset) != 0
  }

  /// Records that the page at an offset has been verified.
  func insert(_ offset: Int) {
    parts[offset >> 16].words[offset >> 10 & 63].bitwiseOr(Self.bit(offset), ordering: .relaxed)
  }

  private static func bit(_ offset: Int) -> UInt64 { 1 << UInt64(offset >> 4 & 63) }
}
