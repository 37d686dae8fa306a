import StoreEngine

/// What to search for: words and parts of words, and how they belong together.
///
///     TextQuery.word("choice")                                  // the word
///     TextQuery.prefix("choi") && !TextQuery.word("rock")       // words, and words to be without
///     TextQuery.allWords("what the user has typed")             // never an error
///     try TextQuery(parsing: "choi* AND NOT rock")              // a text with operators
///
/// Letters are compared without case, accents and width, see <doc:FullTextSearch>. Several words in
/// one text are a phrase: they have to follow each other.
///
/// A part without letters, digits and symbols, such as "-", is left out as if it were not there; a
/// query of nothing else finds nothing.
///
/// A query may have any number of parts, and any depth.
public struct TextQuery: Sendable {
  typealias Node = TextQueryNode

  let node: Node

  init(_ node: Node) { self.node = node }

  /// A word, or several that follow each other.
  public static func word(_ text: String) -> TextQuery {
    TextQuery(.text(text, .word, .word))
  }

  /// Words that follow each other: the same as ``word(_:)``.
  public static func phrase(_ text: String) -> TextQuery { word(text) }

  /// A word that begins so.
  public static func prefix(_ text: String) -> TextQuery {
    TextQuery(.text(text, .word, .anything))
  }

  /// A word that ends so.
  public static func suffix(_ text: String) -> TextQuery {
    TextQuery(.text(text, .anything, .word))
  }

  /// Letters anywhere, in a word or over several.
  public static func substring(_ text: String) -> TextQuery {
    TextQuery(.text(text, .anything, .anything))
  }

  /// A whole text of an attribute.
  public static func exact(_ text: String) -> TextQuery { TextQuery(.text(text, .text, .text)) }

  /// How the whole text of an attribute begins.
  public static func beginning(_ text: String) -> TextQuery {
    TextQuery(.text(text, .text, .anything))
  }

  /// How the whole text of an attribute ends.
  public static func end(_ text: String) -> TextQuery { TextQuery(.text(text, .anything, .text)) }

  /// All words of a text, wherever they are; the last one may go on.
  ///
  /// For what a user types: nothing in it is an operator, and nothing an error.
  ///
  /// - Parameters:
  ///   - text: What was typed.
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

  /// Both.
  public static func && (left: TextQuery, right: TextQuery) -> TextQuery {
    TextQuery(.all([left.node, right.node]))
  }

  /// One of them, or both.
  public static func || (left: TextQuery, right: TextQuery) -> TextQuery {
    TextQuery(.any([left.node, right.node]))
  }

  /// What is without it.
  public static prefix func ! (query: TextQuery) -> TextQuery { TextQuery(.not(query.node)) }
}
