import StoreEngine

/// A full-text query: words and parts of words, and the way they combine.
///
///     TextQuery.word("choice")                                  // the word
///     TextQuery.prefix("choi") && !TextQuery.word("rock")       // words, and words to be without
///     TextQuery.allWords("what the user has typed")             // never an error
///     try TextQuery(parsing: "choi* AND NOT rock")              // a text with operators
///
/// Letters are compared without case, accents and width, see <doc:FullTextSearch>. Several words in
/// one text are a phrase: they must follow each other.
///
/// A part without letters, digits and symbols, such as "-", is ignored. A query that consists only
/// of such parts finds nothing.
///
/// A query may have any number of parts, and any depth.
public struct TextQuery: Sendable {
  typealias Node = TextQueryNode

  let node: Node

  init(_ node: Node) { self.node = node }

  /// Returns a query for a word, or for several words that follow each other.
  public static func word(_ text: String) -> TextQuery {
    TextQuery(.text(text, .word, .word))
  }

  /// Returns a query for words that follow each other, the same as ``word(_:)``.
  public static func phrase(_ text: String) -> TextQuery { word(text) }

  /// Returns a query for a word that begins with a text.
  public static func prefix(_ text: String) -> TextQuery {
    TextQuery(.text(text, .word, .anything))
  }

  /// Returns a query for a word that ends with a text.
  public static func suffix(_ text: String) -> TextQuery {
    TextQuery(.text(text, .anything, .word))
  }

  /// Returns a query for letters anywhere, in a word or across words.
  public static func substring(_ text: String) -> TextQuery {
    TextQuery(.text(text, .anything, .anything))
  }

  /// Returns a query for the whole text of an attribute.
  public static func exact(_ text: String) -> TextQuery { TextQuery(.text(text, .text, .text)) }

  /// Returns a query for the beginning of the whole text of an attribute.
  public static func beginning(_ text: String) -> TextQuery {
    TextQuery(.text(text, .text, .anything))
  }

  /// Returns a query for the end of the whole text of an attribute.
  public static func end(_ text: String) -> TextQuery { TextQuery(.text(text, .anything, .text)) }

  /// Returns a query for all words of a text, in any position.
  ///
  /// Use it for text that a user types: it has no operators, and no text is an error.
  ///
  /// Complexity: linear in the length of the text.
  ///
  /// - Parameters:
  ///   - text: The text that was typed.
  ///   - lastIsPrefix: Whether the last word may be the beginning of a longer one.
  /// - Returns: A query of all its words.
  public static func allWords(_ text: String, lastIsPrefix: Bool = false) -> TextQuery {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    return TextQuery(
      .all(
        words.enumerated().map { index, word in
          .text(word, .word, lastIsPrefix && index == words.count - 1 ? .anything : .word)
        }))
  }

  /// Returns a query that matches if both queries match.
  public static func && (left: TextQuery, right: TextQuery) -> TextQuery {
    TextQuery(.all([left.node, right.node]))
  }

  /// Returns a query that matches if at least one of the queries matches.
  public static func || (left: TextQuery, right: TextQuery) -> TextQuery {
    TextQuery(.any([left.node, right.node]))
  }

  /// Returns a query that matches if another does not.
  public static prefix func ! (query: TextQuery) -> TextQuery { TextQuery(.not(query.node)) }
}
