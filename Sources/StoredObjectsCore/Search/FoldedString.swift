import FoundationEssentials
import StoreEngine

/// A text without case, accents and width, for comparing texts as readers do.
///
///     "Beyoncé".folded == "BEYONCE"
///     "Straße".folded == "strasse"
///
/// Use it in predicates, orders and indexes:
///
///     AttributeIndex("folded title", \Song.title.folded)
///     try store.fetch(
///       Song.self, where: #Predicate { $0.title.folded == "halo" },
///       sortedBy: [.ascending(\.title.folded)])
///
/// A literal is folded, too. Letters are folded as in a search (<doc:FullTextSearch>), in the same
/// way for every language. All other characters stay as they are.
public struct FoldedString: Hashable, Sendable {
  /// The folded text.
  public let text: String

  /// Folds a text.
  ///
  /// Complexity: Linear in the length of the text.
  public init(_ text: String) { self.text = ScalarFolding.fold(text) }

  /// Creates a folded string from a text that is folded already.
  init(folded text: String) { self.text = text }

  /// Returns whether the text contains another folded text.
  ///
  /// Complexity: The product of both lengths in the worst case.
  public func contains(_ other: FoldedString) -> Bool {
    let (whole, part) = (Array(text.unicodeScalars), Array(other.text.unicodeScalars))
    if part.isEmpty { return true }
    guard part.count <= whole.count else { return false }
    return (0...(whole.count - part.count)).contains { start in
      whole[start] == part[0] && whole[start..<start + part.count].elementsEqual(part)
    }
  }
}

extension String {
  /// The text without case, accents and width.
  public var folded: FoldedString { FoldedString(self) }
}

extension String? {
  /// The text without case, accents and width, or nil for nil.
  public var folded: FoldedString? { map { FoldedString($0) } }
}

extension FoldedString: Comparable {
  /// Returns whether a text sorts before another, by the folded letters.
  ///
  /// Complexity: linear in the length of the shorter text.
  public static func < (left: FoldedString, right: FoldedString) -> Bool { left.text < right.text }
}

extension FoldedString: ExpressibleByStringLiteral {
  /// Folds a literal.
  ///
  /// Complexity: linear in the length of the text.
  public init(stringLiteral text: String) { self.init(text) }
}

extension FoldedString: CustomStringConvertible {
  /// The folded text.
  public var description: String { text }
}

extension FoldedString: BidirectionalCollection {
  /// The first position.
  public var startIndex: String.Index { text.startIndex }
  /// The position after the last character.
  public var endIndex: String.Index { text.endIndex }
  /// Accesses the character at a position.
  public subscript(index: String.Index) -> Character { text[index] }
  /// Returns the next position.
  public func index(after index: String.Index) -> String.Index { text.index(after: index) }
  /// Returns the previous position.
  public func index(before index: String.Index) -> String.Index { text.index(before: index) }
}

extension FoldedString: Codable {
  /// Encodes the folded text.
  ///
  /// Complexity: linear in the length of the text.
  ///
  /// - Throws: The errors of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  /// Decodes a text and folds it.
  ///
  /// Complexity: linear in the length of the text.
  ///
  /// - Throws: `DecodingError` for a value that is not a text.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }
}

extension FoldedString: IndexableValue {
  /// Appends the folded text.
  public func writeKey(to key: inout IndexKey) { text.writeKey(to: &key) }
}

extension ScalarFolding {
  /// Folds the letters of a text; other characters stay as they are.
  static func fold(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      return String(decoding: text.utf8.map(lowercased), as: UTF8.self)
    }
    var folded = String.UnicodeScalarView()
    for character in text {
      for (scalar, _) in fold(character) {
        if let scalar = Unicode.Scalar(scalar) { folded.append(scalar) }
      }
    }
    return String(folded)
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    0x41...0x5A ~= byte ? byte | 0x20 : byte
  }
}
