/// A word, a text in quotation marks, or a sign of an expression.
struct ExpressionToken: Equatable {
  enum Kind: Equatable {
    case word, text, sign, end
  }

  let kind: Kind
  /// Without quotation marks.
  let text: String
  /// The number of characters before it.
  let position: Int

  /// Whether it is a word that means something, in whatever case.
  func isKeyword(_ word: String) -> Bool { kind == .word && text.lowercased() == word }

  /// How a message calls it.
  var name: String { kind == .end ? "the end" : quoted(text) }
}

/// Takes an expression apart.
struct ExpressionTokens {
  private let source: String
  private let characters: [Character]
  private var position = 0

  private static let signs = Set<Character>("=!<>(),")

  init(_ source: String) {
    self.source = source
    characters = Array(source)
  }

  /// All tokens, the end as the last.
  ///
  /// - Throws: ``Failure`` with the position of what is none.
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
      throw Failure(of: source, at: start, "\"!\" is no operator: write != or not")
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

  /// A text up to the same quotation mark; one that is doubled is one of the text.
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
  /// What is wrong with an expression, and where: the place is counted, and pointed at.
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
