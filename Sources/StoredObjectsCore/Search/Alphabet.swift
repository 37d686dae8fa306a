/// The letters that a language has in addition to a to z, and their places in its alphabet.
///
///     let songs = try store.fetch(Song.self, sortedBy: [.ascending(\.title[.swedish])])
///
/// Each rule has a letter, and those that come next in the alphabet, separated by spaces. Other
/// ways to write a letter follow it after a slash. A letter can be a group of letters, such as ll
/// in Welsh:
///
///     extension Alphabet {
///       static let welsh = Alphabet(
///         "c ch", "d dd", "f ff", "g ng", "l ll", "p ph", "r rh", "t th")
///     }
///
/// Case does not matter, unless a rule names a capital.
public struct Alphabet: Hashable, Sendable {
  /// The sort key of each letter of the rules.
  let letters: [String: String]
  /// The length of the longest letter, in characters.
  let maximumCount: Int

  /// Creates an alphabet from its rules.
  ///
  /// Complexity: linear in the length of the rules.
  public init(_ rules: String...) {
    var letters: [String: String] = [:]
    for rule in rules {
      let words = rule.split(separator: " ")
      guard let before = words.first else { continue }
      for (number, word) in words.dropFirst().enumerated() {
        // A scalar for private use comes after all letters.
        let mark = Unicode.Scalar(UInt32(0xF0001 + number)).map { String(Character($0)) } ?? ""
        for spelling in word.split(separator: "/") {
          letters[String(spelling)] = ScalarFolding.fold(String(before)) + mark
        }
      }
    }
    self.letters = letters
    maximumCount = letters.keys.map(\.count).max() ?? 0
  }

  /// The alphabet of Danish and Norwegian.
  public static let danish = Alphabet("z æ/ä ø/ö å/aa")
  /// The alphabet of Swedish and Finnish.
  public static let swedish = Alphabet("z å ä/æ ö/ø")
  /// The alphabet of Spanish.
  public static let spanish = Alphabet("n ñ")
  /// The alphabet of Polish.
  public static let polish = Alphabet("a ą", "c ć", "e ę", "l ł", "n ń", "o ó", "s ś", "z ź ż")
  /// The alphabet of Czech and Slovak.
  public static let czech = Alphabet("c č", "h ch", "r ř", "s š", "z ž")
  /// The alphabet of Turkish.
  public static let turkish = Alphabet("c ç", "g ğ", "h ı/I", "o ö", "s ş", "u ü")
}

/// A text in the order of an alphabet, without case and other accents.
///
/// Use it to sort, and in indexes:
///
///     AttributeIndex("title in Swedish", \Song.title[.swedish])
///     try store.fetch(Song.self, sortedBy: [.ascending(\.title[.swedish])], limit: 50)
///
/// Change the name of an index when you change its alphabet.
public struct AlphabeticString: Hashable, Sendable {
  /// The folded text, in which each letter of the alphabet's own is behind the letter before it.
  let key: String

  /// Finds the place of a text in an alphabet.
  ///
  /// Complexity: linear in the length of the text.
  public init(_ text: String, _ alphabet: Alphabet) {
    var key = ""
    var rest = text[...]
    while let first = rest.first {
      if let (letter, count) = alphabet.letter(at: rest) {
        key += letter
        rest = rest.dropFirst(count)
      } else {
        key += ScalarFolding.fold(String(first))
        rest = rest.dropFirst()
      }
    }
    self.key = key
  }
}

extension Alphabet {
  /// Returns the sort key of the letter that a text begins with, and its number of characters.
  ///
  /// Returns nil if the text does not begin with a letter of the rules.
  fileprivate func letter(at text: Substring) -> (key: String, count: Int)? {
    for count in stride(from: maximumCount, to: 0, by: -1) {
      let part = text.prefix(count)
      guard part.count == count else { continue }
      if let key = letters[String(part)] ?? letters[part.lowercased()] { return (key, count) }
    }
    return nil
  }
}

extension String {
  /// The text in the order of an alphabet.
  public subscript(alphabet: Alphabet) -> AlphabeticString { AlphabeticString(self, alphabet) }
}

extension String? {
  /// The text in the order of an alphabet, or nil for nil.
  public subscript(alphabet: Alphabet) -> AlphabeticString? {
    map { AlphabeticString($0, alphabet) }
  }
}

extension AlphabeticString: Comparable {
  /// Returns whether a text comes before another one of the same alphabet.
  ///
  /// Complexity: linear in the length of the shorter text.
  public static func < (left: AlphabeticString, right: AlphabeticString) -> Bool {
    left.key < right.key
  }
}

extension AlphabeticString: IndexableValue {
  /// Appends the place of the text in its alphabet.
  public func writeKey(to key: inout IndexKey) { self.key.writeKey(to: &key) }
}
