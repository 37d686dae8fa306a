import StoreEngine
// The normalisation that Swift itself uses to compare strings.
@_spi(_Unicode) import Swift

/// The class of a folded character in a search.
enum TextClass: UInt8 {
  /// A separator between words, which is not searched.
  case separator
  /// A part of a word.
  case word
  /// A letter of a script without spaces between words.
  case unspaced
  /// A word by itself, such as + or an emoji.
  case symbol
  /// A mark that belongs to the character before it.
  case mark
}

/// Folding of letters: without case, accents and width.
enum ScalarFolding {
  typealias Folded = (scalar: UInt32, kind: TextClass)

  /// The folded scalars of each scalar below U+0300.
  ///
  /// They are valid in every text of only such scalars and ``isPlain(_:)`` ones.
  static let small: [[Folded]] = (0..<0x300).map { value in
    Unicode.Scalar(value).map { fold(Character($0)) } ?? []
  }

  /// The folded scalars of ASCII, one for each character.
  static let ascii: [Folded] = (0..<0x80).map { small[$0][0] }

  /// Returns whether a scalar of an unspaced script, from U+0300 on, folds to itself.
  static func isPlain(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x4E00...0x9FFF, 0x3041...0x3096, 0x30A1...0x30FA: true
    default: false
    }
  }

  /// The Unicode version of the Swift runtime, such as "16.0".
  ///
  /// No API returns it, but each scalar knows the version that added it, and each version adds
  /// some. This checks every sixteenth scalar, in half a millisecond; the planes beyond have no
  /// letters.
  static let unicodeVersion: String = {
    var latest = (major: 0, minor: 0)
    for value in stride(from: 0xF, to: 0x40000, by: 16) as StrideTo<UInt32> {
      guard let age = Unicode.Scalar(value)?.properties.age, age > latest else { continue }
      latest = age
    }
    return "\(latest.major).\(latest.minor)"
  }()

  /// Folds a character.
  static func fold(_ character: Character) -> [Folded] {
    var text = String.UnicodeScalarView()
    for scalar in String(character)._nfd {
      let narrow = withoutWidth(scalar).properties.uppercaseMapping
      for upper in narrow.unicodeScalars {
        for lower in upper.properties.lowercaseMapping.unicodeScalars
        where !isDropped(lower.value) {
          if let letters = letters[lower.value] {
            text.append(contentsOf: letters.unicodeScalars)
          } else {
            text.append(lower)
          }
        }
      }
    }
    return String(text)._nfc.map { ($0.value, kind(of: $0)) }
  }

  /// Letters that Unicode does not decompose but readers do; only a capital ẞ is still ß here.
  private static let letters: [UInt32: String] = [
    0xDF: "ss", 0xE6: "ae", 0xF0: "d", 0xF8: "o", 0xFE: "th", 0x111: "d", 0x127: "h", 0x142: "l",
    0x153: "oe", 0x167: "t",
  ]

  /// Returns whether to drop a scalar: an optional accent, point, vowel sign, or an invisible one.
  private static func isDropped(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x300...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
    case 0x591...0x5BD, 0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x5C7: true
    case 0x610...0x61A, 0x640, 0x64B...0x65F, 0x670, 0x6D6...0x6DC: true
    case 0xFE00...0xFE0F, 0xE0100...0xE01EF: true
    case 0x200B: false
    default: scalar == 0xAD || isFormat(scalar)
    }
  }

  private static func isFormat(_ scalar: UInt32) -> Bool {
    guard scalar > 0x5FF, let scalar = Unicode.Scalar(scalar) else { return false }
    return scalar.properties.generalCategory == .format
  }

  /// Returns a full-width letter as narrow, and half-width kana as wide.
  private static func withoutWidth(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.value {
    case 0xFF01...0xFF5E: Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
    case 0xFF66...0xFF9F: kana[Int(scalar.value - 0xFF66)]
    default: scalar
    }
  }

  private static let kana = Array(
    """
    ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン\
    \u{3099}\u{309A}
    """.unicodeScalars)

  private static func kind(of scalar: Unicode.Scalar) -> TextClass {
    if scalar.value == 0x200B { return .separator }
    switch scalar.properties.generalCategory {
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation, .spaceSeparator, .lineSeparator,
      .paragraphSeparator, .control:
      return .separator
    case .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol: return .symbol
    default: break
    }
    if isUnspaced(scalar.value) { return .unspaced }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return .mark
    default: return .word
    }
  }

  /// Returns whether a scalar is Thai, Lao, Myanmar, Khmer, kana or a Chinese character.
  static func isUnspaced(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0xE00...0xEFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3005...0x3007, 0x3040...0x30FF,
      0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA9E0...0xA9FF, 0xAA60...0xAA7F,
      0xF900...0xFAFF, 0x1B000...0x1B16F, 0x20000...0x3FFFF:
      true
    default: false
    }
  }
}
