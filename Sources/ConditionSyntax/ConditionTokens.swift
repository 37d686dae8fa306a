/// A token of a condition: a word, a text in quotation marks, or a sign.
package struct ConditionToken: Equatable {
  /// The kinds of tokens.
  package enum Kind: Equatable {
    case word, text, sign, end
  }

  /// The kind of the token.
  package let kind: Kind
  /// The text, without quotation marks.
  package let text: String
  /// The number of characters before the token.
  package let position: Int

  /// Whether the token is a certain keyword, whose case does not matter.
  func isKeyword(_ word: String) -> Bool { kind == .word && text.lowercased() == word }
}

/// Splits a condition into tokens.
struct ConditionTokens {
  private let characters: [Character]
  private var position = 0

  private static let signs = Set<Character>("=!<>(),")

  init(_ source: String) { characters = Array(source) }

  /// Returns all tokens; the last one is the end.
  ///
  /// - Throws: ``ConditionError`` for an invalid token.
  mutating func read() throws(ConditionError) -> [ConditionToken] {
    var tokens: [ConditionToken] = []
    while true {
      while position < characters.count, characters[position].isWhitespace { position += 1 }
      guard position < characters.count else { break }
      tokens.append(try next())
    }
    return tokens + [ConditionToken(kind: .end, text: "", position: position)]
  }

  private mutating func next() throws(ConditionError) -> ConditionToken {
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
      throw ConditionError(at: start, "\"!\" is not an operator; write != or not")
    }
    return token(.sign, start)
  }

  private func isOfWord(_ character: Character) -> Bool {
    !character.isWhitespace && !Self.signs.contains(character) && character != "\""
      && character != "'"
  }

  private func token(_ kind: ConditionToken.Kind, _ start: Int) -> ConditionToken {
    ConditionToken(kind: kind, text: String(characters[start..<position]), position: start)
  }

  /// Reads a text up to its quotation mark; a doubled mark is part of the text.
  private mutating func text(_ mark: Character) throws(ConditionError) -> ConditionToken {
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
        return ConditionToken(kind: .text, text: text, position: start)
      }
      text.append(mark)
      position += 1
    }
    throw ConditionError(at: start, "the quotation mark that begins here is not closed")
  }
}
