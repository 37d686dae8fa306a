import Foundation

/// The standard output of the tool.
///
/// Everything is written at once: `print` would keep text back, and a later command of the shell
/// could overtake it.
enum StandardOutput {
  /// Writes lines.
  static func write(_ lines: [String]) throws { try write(lines.map { $0 + "\n" }.joined()) }

  /// Writes a text as it is.
  static func write(_ text: String) throws {
    try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }
}
