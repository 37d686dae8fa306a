import Foundation
import StoredObjectsCore

/// A line on the terminal that shows the progress of a command; empty if there is no terminal.
final class ProgressLine {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var hasText = false
  private let verb: String

  init(_ verb: String) { self.verb = verb }

  /// Shows the progress.
  func show(_ progress: IntegrityProgress) {
    guard isShown else { return }
    let width = 20
    let part = progress.total > 0 ? min(1, Double(progress.completed) / Double(progress.total)) : 0
    let filled = Int(part * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    let percent = "\(Int(part * 100))%"
    write("\r\u{1B}[K\(verb) [\(bar)] \(percent) \(progress.subject)")
    hasText = true
  }

  /// Removes the line.
  func end() {
    if hasText { write("\r\u{1B}[K") }
    hasText = false
  }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
