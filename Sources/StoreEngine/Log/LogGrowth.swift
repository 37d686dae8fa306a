/// The way in which a commit log grows.
struct LogGrowth: Sendable {
  /// The step of growth, so that most saves don't change the file's metadata.
  static let standardByteCount = 1 << 20

  var byteCount: Int
  /// Whether a thread syncs the log, if saves don't wait for the disk.
  var usesThread: Bool

  /// Creates the settings.
  init(_ byteCount: Int = Self.standardByteCount, usesThread: Bool = true) {
    (self.byteCount, self.usesThread) = (byteCount, usesThread)
  }
}
