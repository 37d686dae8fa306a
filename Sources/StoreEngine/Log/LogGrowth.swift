/// How a commit log grows.
struct LogGrowth: Sendable {
  /// By so much at a time, so that most saves change no metadata of the file.
  static let standardByteCount = 1 << 20

  var byteCount: Int
  /// Whether a thread brings to the disk what was written, where saves don't wait for the disk.
  var usesThread: Bool

  /// Describes it.
  init(_ byteCount: Int = Self.standardByteCount, usesThread: Bool = true) {
    (self.byteCount, self.usesThread) = (byteCount, usesThread)
  }
}
