package import StoredObjectsCore

/// A search that scans every text, and folds by a table of the pieces in the texts.
package struct SearchGrep {
  /// A piece of text, and the way a search treats it.
  struct Piece {
    /// The kind of the piece, for word boundaries.
    enum Kind { case separator, word, unspaced, symbol, mark }

    let text: String
    /// The folded letters; each symbol is one letter.
    let folded: [Unicode.Scalar]
    let kind: Kind

    init(_ text: String, _ folded: String, _ kind: Kind) {
      self.text = text
      self.folded = Array(folded.unicodeScalars)
      self.kind = kind
    }
  }

  static let pieces: [Piece] = words + unspaced + symbols + separators

  private static let words: [Piece] = [
    // Latin, with accents in one scalar and in several.
    ("a", "a"), ("b", "b"), ("E", "e"), ("é", "e"), ("e\u{301}", "e"), ("ế", "e"),
    ("e\u{301}\u{302}", "e"), ("Ç", "c"), ("ñ", "n"), ("n\u{303}", "n"), ("Ø", "o"), ("æ", "ae"),
    ("Œ", "oe"), ("ł", "l"), ("Đ", "d"), ("þ", "th"), ("ǆ", "ǆ"), ("ŉ", "ʼn"), ("ﬁ", "fi"),
    // German and Turkish.
    ("ß", "ss"), ("ẞ", "ss"), ("SS", "ss"), ("I", "i"), ("i", "i"), ("İ", "i"), ("ı", "i"),
    ("I\u{307}", "i"),
    // Greek, Cyrillic, Hebrew, Arabic, Devanagari, Hangul.
    ("Σ", "σ"), ("ς", "σ"), ("ά", "α"), ("Ё", "е"), ("й", "и"), ("Я", "я"), ("ש\u{5C1}", "ש"),
    ("לָ", "ל"), ("م\u{64E}", "م"), ("ح", "ح"), ("क\u{94D}", "क\u{94D}"), ("हि", "हि"), ("한", "한"),
    ("\u{1112}\u{1161}\u{11AB}", "한"),
    // Other widths, and numbers.
    ("Ａ", "a"), ("１", "1"), ("1", "1"), ("½", "½"), ("Ⅷ", "ⅷ"), ("a\u{AD}", "a"),
    ("a\u{200D}", "a"),
    // Letters of the supplementary planes.
    ("𐐀", "𐐨"), ("𝒜", "𝒜"),
  ].map { Piece($0, $1, .word) }

  private static let unspaced: [Piece] = [
    ("音", "音"), ("楽", "楽"), ("中", "中"), ("文", "文"), ("𠮷", "𠮷"), ("が", "が"),
    ("か\u{3099}", "が"), ("か", "か"), ("ｶﾞ", "ガ"), ("ﾊﾟ", "パ"), ("ー", "ー"), ("々", "々"),
    ("ไทย", "ไทย"), ("น้", "น้"), ("ខ្មែរ", "ខ្មែរ"),
  ].map { Piece($0, $1, .unspaced) }

  private static let symbols: [Piece] = [
    ("+", "+"), ("$", "$"), ("😀", "😀"), ("❤\u{FE0F}", "❤"), ("👍🏽", "👍🏽"), ("🇩🇪", "🇩🇪"),
    ("👩\u{200D}👧", "👩👧"), ("\u{20E3}", ""),
  ].map { Piece($0, $1, .symbol) }

  private static let separators: [Piece] = [
    " ", " ", " ", "-", "’", "\n", "、", "。", "・", "/", "\u{200B}", "\u{0}", "\u{3000}", "!?", "_",
  ].map { Piece($0, "", .separator) }

  /// Returns the folded text of pieces: with a space before each word, and one at the end.
  static func folded(_ pieces: [Piece]) -> [Unicode.Scalar] {
    var folded: [Unicode.Scalar] = []
    var last = Piece.Kind.separator
    for piece in pieces where piece.kind == .separator || !piece.folded.isEmpty {
      defer { last = piece.kind }
      if piece.kind == .separator { continue }
      if piece.kind != .symbol {
        if piece.kind != last { folded.append(" ") }
        folded += piece.folded
      } else {
        for symbol in piece.folded { folded += [" ", symbol] }
      }
    }
    return folded.isEmpty ? [] : folded + [" "]
  }

  static func text(_ pieces: [Piece]) -> String { pieces.map(\.text).joined() }

  // MARK: Searching

  /// A way to search for a text.
  package enum Mode: CaseIterable { case word, prefix, suffix, substring, exact, beginning, end }

  /// Returns the query for a text in a mode.
  package static func query(_ text: String, _ mode: Mode) -> TextQuery {
    switch mode {
    case .word: .word(text)
    case .prefix: .prefix(text)
    case .suffix: .suffix(text)
    case .substring: .substring(text)
    case .exact: .exact(text)
    case .beginning: .beginning(text)
    case .end: .end(text)
    }
  }

  /// Returns the query in query notation, or nil if the text has a special meaning there.
  static func notation(_ text: String, _ mode: Mode) -> String? {
    let meaning = "[]()\"*"
    // A combining mark at the start would change the character before it.
    if text.unicodeScalars.first == "\u{20E3}" { return nil }
    if text.contains(where: { meaning.contains($0) }) { return nil }
    switch mode {
    case .word: return "[[\(text)]]"
    case .prefix: return "[[\(text)*]]"
    case .suffix: return "[[*\(text)]]"
    case .substring: return "[[*\(text)*]]"
    default: return nil
    }
  }

  /// Returns whether a folded text matches.
  static func matches(_ text: [Unicode.Scalar], _ wanted: [Piece], _ mode: Mode) -> Bool {
    let letters = folded(wanted).dropFirst().dropLast()
    let real = wanted.filter { $0.kind != .separator && !$0.folded.isEmpty }
    guard let first = real.first, let last = real.last, !text.isEmpty else { return false }
    let start: [Unicode.Scalar] = first.kind == .unspaced ? [] : [" "]
    let end: [Unicode.Scalar] = last.kind == .unspaced ? [] : [" "]
    switch mode {
    case .word: return has(text, start + letters + end)
    case .prefix: return has(text, start + letters)
    case .suffix: return has(text, letters + end)
    case .substring: return has(text, Array(letters))
    case .exact: return text == [" "] + letters + [" "]
    case .beginning: return text.starts(with: [" "] + letters)
    case .end: return text.reversed().starts(with: [" "] + letters.reversed())
    }
  }

  private static func has(_ text: [Unicode.Scalar], _ part: [Unicode.Scalar]) -> Bool {
    guard text.count >= part.count else { return false }
    return (0...text.count - part.count).contains { text[$0...].starts(with: part) }
  }
}
