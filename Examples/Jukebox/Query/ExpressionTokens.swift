/// A token of an expression: a word, a text in quotation marks, or a sign.
struct ExpressionToken: Equatable {
  enum Kind: Equatable {
    case word, text, sign, end
  }

  let kind: Kind
  /// The text, without quotation marks.
  let text: String
  /// The number of characters before the token.
  let position: Int

  /// Whether the token is a certain keyword, whose case does not matter.
  func isKeyword(_ word: String) -> Bool { kind == .word && text.lowercased() == word }

  /// The token in messages.
  var name: String { kind == .end ? "the end" : quoted(text) }
}

/// Splits an expression into tokens.
struct ExpressionTokens {
  private let source: String
  private let characters: [Character]
  private var position = 0

  private static let signs = Set<Character>("=!<>(),")

  init(_ source: String) {
    self.source = source
    characters = Array(source)
  }

  /// Returns all tokens; the last one is the end.
  ///
  /// - Throws: ``Failure`` with the position of an invalid token.
  mutating func read() throws(Failure) -> [ExpressionToken] {
    var tokens: [ExpressionToken] = []
    while true {
      while position < characters.count, characters[position].isWhitespace { position += 1 }
      guard position < characters.count else { break }
      tokens.append(try next())
    }
    return tokens + [ExpressionToken(kind: .end, text: "", position: position)]
  }

  private mutating func next() throws(Failure) -> ExpressionToken {
    let start = position
    let first = characters[start]
    if first == "\"" || first == "'" { return try text(first) }
    position += 1
    guard Self.signs.contains(first) else {
      while position < characters.count, isOfWord(characters[position]) { position += 1 }
      return token(.word, start)
    }
    if "!<>".contains(first), position < characters.count, characters[position] == "=" {
      position += 1
    }
    if position == start + 1, first == "!" {
      throw Failure(of: source, at: start, "\"!\" is not an operator; write != or not")
    }
    return token(.sign, start)
  }

  private func isOfWord(_ character: Character) -> Bool {
    !character.isWhitespace && !Self.signs.contains(character) && character != "\""
      && character != "'"
  }

  private func token(_ kind: ExpressionToken.Kind, _ start: Int) -> ExpressionToken {
    ExpressionToken(kind: kind, text: String(characters[start..<position]), position: start)
  }

  /// Reads a text up to its quotation mark; a doubled mark is part of the text.
  private mutating func text(_ mark: Character) throws(Failure) -> ExpressionToken {
    let start = position
    var text = ""
    position += 1
    while position < characters.count {
      let character = characters[position]
      position += 1
      guard character == mark else {
        text.append(character)
        continue
      }
      guard position < characters.count, characters[position] == mark else {
        return ExpressionToken(kind: .text, text: text, position: start)
      }
      text.append(mark)
      position += 1
    }
    throw Failure(of: source, at: start, "the quotation mark that begins here is not closed")
  }
}

extension Failure {
  /// Creates the message of an error in an expression, with its position and a mark below it.
  init(of expression: String, at position: Int, _ message: String) {
    let before = String(expression.prefix(position)).forTerminal
    self.init(
      """
      At character \(position + 1) of the expression: \(message).
        \(expression.forTerminal)
        \(String(repeating: " ", count: before.columnCount))^
      """)
  }
}
