extension String {
  /// The text on one line, with line breaks and control characters as escapes.
  ///
  /// Imported names can have any characters, and must not control the terminal.
  var forTerminal: String {
    guard unicodeScalars.contains(where: \.mustBeEscaped) else { return self }
    return unicodeScalars.reduce(into: "") { $0 += $1.mustBeEscaped ? $1.escaped : String($1) }
  }

  /// The number of columns that the text takes on a terminal.
  var columnCount: Int { reduce(0) { $0 + $1.columnCount } }

  /// Returns the text, padded with spaces on the right to a number of columns.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - columnCount))
  }

  /// Returns the text, padded with spaces on the left to a number of columns.
  func paddedInFront(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - columnCount)) + self
  }

  var withoutFinalStop: String { hasSuffix(".") ? String(dropLast()) : self }
}

extension Unicode.Scalar {
  fileprivate var mustBeEscaped: Bool {
    switch value {
    // Controls, line and paragraph separators, and marks that change the direction of text.
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  fileprivate var escaped: String {
    switch self {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{\(String(value, radix: 16, uppercase: true))}"
    }
  }
}

extension Character {
  /// The number of columns: 2 for wide East Asian characters and emoji, 0 for a mark, otherwise 1.
  fileprivate var columnCount: Int {
    if isASCII { return 1 }
    guard let first = unicodeScalars.first else { return 0 }
    if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return 2
    default: break
    }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return 1
    }
  }
}

/// Returns a number with its noun: "1 song", "2 songs".
func counted(_ count: Int, _ noun: String) -> String {
  count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
}
