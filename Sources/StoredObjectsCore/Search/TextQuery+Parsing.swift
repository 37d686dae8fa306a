import StoreEngine

extension TextQuery {
  /// Parses a query with operators.
  ///
  ///     choice            the word         choi*         a word that begins so
  ///     *oice             one that ends so  *hoic*        letters anywhere
  ///     "big yellow taxi"  a phrase         "big yell"*   one whose last word may go on
  ///     big yellow        both, as big AND yellow
  ///     big OR yellow     one of them       big NOT yellow     without
  ///     (big OR small) AND taxi
  ///
  /// Operators are in capital letters; `&&`, `||` and `!!` between spaces are the same. NOT binds
  /// tighter than AND, and AND tighter than OR.
  ///
  /// The parser also accepts the notation of Tokyo Dystopia: `[[choice]]`, `[[choice*]]`,
  /// `[[*choice]]` and `[[*choice*]]` are the first four of these. `[[[[choice` is the beginning of
  /// the whole text, `choice]]]]` its end, and both together are all of it.
  ///
  /// Parentheses may be nested up to 100 deep. The number of words and operators has no limit.
  ///
  /// Complexity: linear in the length of the text.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidQuery`. It has the position in the text, in
  ///   characters from 0.
  public init(parsing text: String) throws(StoreError) {
    var parser = TextQueryParser(text)
    self.init(try parser.query())
  }
}

private struct TextQueryParser {
  private let text: [Character]
  private var index = 0
  private var depth = 0

  init(_ text: String) { self.text = Array(text) }

  private func error(_ message: String, at index: Int) -> StoreError {
    // Of a long query, the message quotes the part around the error.
    let part = text[max(0, index - 100)..<min(text.count, index + 100)]
    return StoreError(
      .invalidQuery, "\(message), at character \(index) of \"\(String(part))\".",
      at: .init(offset: index))
  }

  mutating func query() throws(StoreError) -> TextQuery.Node {
    let node = try any()
    if index < text.count { throw error("A ) closes nothing", at: index) }
    return node
  }

  private mutating func any() throws(StoreError) -> TextQuery.Node {
    var parts = [try all()]
    while take("OR") || take("||") { parts.append(try all()) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func all() throws(StoreError) -> TextQuery.Node {
    var parts: [TextQuery.Node] = []
    var needsMore = false
    while true {
      skipSpaces()
      if !parts.isEmpty, take("AND") || take("&&") {
        needsMore = true
        skipSpaces()
      }
      if index == text.count || text[index] == ")" || isNext("OR") || isNext("||") { break }
      parts.append(try one())
      needsMore = false
    }
    // An empty query is valid; an operator without a right operand is an error.
    if needsMore || parts.isEmpty && (index < text.count || index > 0 && hasOperatorBefore) {
      throw error("Something to search for is missing", at: index)
    }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private var hasOperatorBefore: Bool { text[..<index].contains { !$0.isWhitespace } }

  private mutating func one() throws(StoreError) -> TextQuery.Node {
    var isNegated = false
    while take("NOT") || take("!!") { isNegated.toggle() }
    skipSpaces()
    guard index < text.count, text[index] != ")", !isNext("AND"), !isNext("OR") else {
      throw error("Something to search for is missing", at: index)
    }
    let node = try term()
    return isNegated ? .not(node) : node
  }

  private mutating func term() throws(StoreError) -> TextQuery.Node {
    switch text[index] {
    case "(": return try group()
    case "\"": return try phrase()
    case "[" where text[index...].starts(with: "[[[["): break
    case "[" where text[index...].starts(with: "[["): return try bracketed()
    default: break
    }
    return word(takeWord())
  }

  private mutating func group() throws(StoreError) -> TextQuery.Node {
    let start = index
    guard depth < 100 else { throw error("More than 100 parentheses are open", at: index) }
    index += 1
    depth += 1
    let node = try any()
    depth -= 1
    guard index < text.count else { throw error("A ( is never closed", at: start) }
    index += 1
    return node
  }

  private mutating func phrase() throws(StoreError) -> TextQuery.Node {
    let start = index
    guard let end = text[(start + 1)...].firstIndex(of: "\"") else {
      throw error("A quotation mark is never closed", at: start)
    }
    index = end + 1
    let words = String(text[start + 1..<end])
    guard index < text.count, text[index] == "*" else { return .text(words, .word, .word) }
    index += 1
    return .text(words, .word, .anything)
  }

  private mutating func bracketed() throws(StoreError) -> TextQuery.Node {
    let start = index + 2
    var end = start
    while end + 1 < text.count, text[end] != "]" || text[end + 1] != "]" { end += 1 }
    guard end + 1 < text.count else { throw error("[[ is never closed", at: index) }
    index = end + 2
    return starred(text[start..<end])
  }

  private mutating func takeWord() -> ArraySlice<Character> {
    let start = index
    let isAnchored = text[index...].starts(with: "[[[[")
    while index < text.count, !text[index].isWhitespace {
      if "()\"".contains(text[index]) { break }
      if !isAnchored, index > start, text[index...].starts(with: "[[") { break }
      index += 1
    }
    return text[start..<index]
  }

  private func word(_ word: ArraySlice<Character>) -> TextQuery.Node {
    let isStart = word.starts(with: "[[[[")
    let isEnd = word.count > 4 && word.suffix(4).allSatisfy { $0 == "]" }
    guard isStart || isEnd else { return starred(word) }
    let rest = word.dropFirst(isStart ? 4 : 0).dropLast(isEnd ? 4 : 0)
    return .text(String(rest), isStart ? .text : .anything, isEnd ? .text : .anything)
  }

  private func starred(_ word: ArraySlice<Character>) -> TextQuery.Node {
    var word = word
    let isSuffix = word.first == "*"
    if isSuffix { word.removeFirst() }
    let isPrefix = word.last == "*"
    if isPrefix { word.removeLast() }
    return .text(String(word), isSuffix ? .anything : .word, isPrefix ? .anything : .word)
  }

  // MARK: Operators

  private mutating func skipSpaces() {
    while index < text.count, text[index].isWhitespace { index += 1 }
  }

  /// Returns whether an operator comes next, followed by a space or a parenthesis.
  private func isNext(_ name: String) -> Bool {
    guard text[index...].starts(with: name) else { return false }
    let end = index + name.count
    return end == text.count || text[end].isWhitespace || "()\"".contains(text[end])
  }

  private mutating func take(_ name: String) -> Bool {
    skipSpaces()
    guard isNext(name) else { return false }
    index += name.count
    return true
  }
}
