import Synchronization

/// Which pages of a file have been verified: a bit for each 16 bytes, of which every page has more.
///
/// Any number of threads ask and take note at once, and none waits.
final class VerifiedPages: Sendable {
  private let parts: [Part]

  /// The bits of 64 KiB of the file.
  private final class Part: Sendable {
    let words = InlineArray<64, Atomic<UInt64>> { _ in Atomic(0) }
  }

  /// None, of a file of some size.
  init(fileSize: Int) { parts = (0...fileSize >> 16).map { _ in Part() } }

  /// Whether the page at an offset in the file has been.
  func contains(_ offset: Int) -> Bool {
    parts[offset >> 16].words[offset >> 10 & 63].load(ordering: .relaxed) & Self.bit(offset) != 0
  }

  /// Takes note of the page at an offset in the file.
  func insert(_ offset: Int) {
    parts[offset >> 16].words[offset >> 10 & 63].bitwiseOr(Self.bit(offset), ordering: .relaxed)
  }

  private static func bit(_ offset: Int) -> UInt64 { 1 << UInt64(offset >> 4 & 63) }
}
