import Foundation

/// Shows the progress of a long command on a terminal, and nothing elsewhere.
final class ProgressBar {
  /// A bar that shows nothing.
  static var none: ProgressBar { ProgressBar(isVisible: false) }
  /// A bar that is visible if standard error is a terminal.
  static var standardError: ProgressBar { ProgressBar(isVisible: isatty(STDERR_FILENO) == 1) }

  private static let width = 30

  private let isVisible: Bool
  private var title = ""
  private var count = 0
  private var done = 0
  private var shownPercent = -1

  private init(isVisible: Bool) { self.isVisible = isVisible }

  /// Starts again for the next part of the work.
  func begin(_ title: String, count: Int = 0) {
    (self.title, self.count, done, shownPercent) = (title, count, 0, -1)
    show()
  }

  /// Counts one finished step.
  func advance() {
    done += 1
    show()
  }

  /// Clears the line.
  func end() {
    if isVisible { write("\r\u{1B}[K") }
  }

  private func show() {
    guard isVisible else { return }
    let percent = count == 0 ? 0 : done * 100 / count
    // Writes only visible changes, so that the bar takes less time than the work.
    guard percent != shownPercent else { return }
    shownPercent = percent
    write("\r\u{1B}[K\(Self.line(title, percent: count == 0 ? nil : percent))")
  }

  /// The text of the bar; without a percentage if the count is unknown.
  static func line(_ title: String, percent: Int?) -> String {
    guard let percent else { return "\(title)..." }
    let filled = percent * width / 100
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    return "\(title) [\(bar)] \(percent) %"
  }

  private func write(_ text: String) {
    // A failure is ignored, because the bar is optional.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
