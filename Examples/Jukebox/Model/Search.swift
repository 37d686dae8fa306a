import Foundation
import StoredObjects

extension Library {
  /// Returns the songs that match a query, the best match first.
  ///
  /// Plain words match the beginnings of words: "bedrich smet" finds Bedřich Smetana. A text with
  /// an operator, a star or a quotation mark is parsed as a query.
  func search(_ text: String) throws -> [Song] {
    try store.search(Song.self, Self.query(text)).map(\.object)
  }

  private static func query(_ text: String) throws -> TextQuery {
    let words = text.split(whereSeparator: \.isWhitespace)
    let operators = ["AND", "OR", "NOT", "&&", "||", "!!"]
    let hasSigns = text.contains { (character: Character) in "*\"()[".contains(character) }
    let isPlain = !hasSigns && !words.contains { operators.contains(String($0)) }
    guard isPlain else {
      return try TextQuery(parsing: text)
    }
    return words.reduce(.allWords("")) { $0 && .prefix(String($1)) }
  }
}

extension String {
  /// The text without case and accents, for comparisons.
  var folded: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return lowercased() }
    return folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
  }
}
