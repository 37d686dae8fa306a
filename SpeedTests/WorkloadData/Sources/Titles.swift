/// Titles of songs that differ as much as those of a real library.
///
/// Their words are artificial: two to six in a title. Some are in nearly every third title, most
/// are in one of many thousands, as in every language. Rivals in C generate the same titles.
public enum Titles {
  /// The number of bits in the numbers of words; a word is half as frequent as one with half its
  /// number.
  private static let wordBits: UInt64 = 15

  private static let onsets = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "st", "ch",
  ]
  private static let vowels = ["a", "e", "i", "o", "u", "a", "e", "o"]
  private static let codas = ["", "", "", "n", "r", "s", "l", "t"]

  /// Returns pseudorandom bits, the same for the same number.
  private static func mixed(_ number: UInt64) -> UInt64 {
    var bits = number &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// Returns the word of a number from 1 on: the more frequent, the shorter.
  private static func word(_ number: UInt64) -> String {
    var bits = mixed(number)
    let hasAccent = bits >> 58 == 0
    let width = UInt64.bitWidth - number.leadingZeroBitCount
    var word = ""
    for syllable in 0..<1 + width / 5 {
      word += onsets[Int(bits & 15)]
      word += hasAccent && syllable == 0 ? "é" : vowels[Int(bits >> 4 & 7)]
      word += codas[Int(bits >> 7 & 7)]
      bits >>= 10
    }
    return word
  }

  /// Returns a random word of some frequency.
  private static func number(_ octave: UInt64, _ bits: UInt64) -> UInt64 {
    1 << octave + bits & (1 << octave - 1)
  }

  /// Returns the title of a song.
  public static func title(_ index: Int) -> String {
    var title = ""
    for position in 0..<2 + mixed(UInt64(index) + 1 << 32) % 5 {
      let bits = mixed(UInt64(index) * 8 + position + 1 << 40)
      let word = word(number(bits % wordBits, bits >> 8))
      if position > 0 { title += " " }
      title += word.prefix(1).uppercased() + word.dropFirst()
    }
    return title
  }

  /// Returns a word to search for, of at least four letters; twelve successive ones range from
  /// frequent to rare words.
  public static func wanted(_ index: Int) -> String {
    let octave = 3 + UInt64(index) % 12
    var number = number(octave, mixed(UInt64(index) + 1 << 48))
    while true {
      let word = word(number)
      if word.utf8.count > 3, word.utf8.allSatisfy({ $0 < 0x80 }) { return word }
      number += 1
    }
  }
}
