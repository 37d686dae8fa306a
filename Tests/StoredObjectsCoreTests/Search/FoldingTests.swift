import Testing

@testable import StoredObjectsCore

@Suite("Folding of texts")
struct FoldingTests {
  private func folded(_ text: String) -> String {
    String(String.UnicodeScalarView(FoldedText(text).scalars.compactMap(Unicode.Scalar.init)))
  }

  @Test(
    "A text is folded to its words in small letters, without accents and width",
    arguments: [
      ("Walking on Sunshine!", " walking on sunshine "), ("", ""), (" ?! ", ""),
      ("Dvořák", " dvorak "), ("DVOR\u{30C}A\u{301}K", " dvorak "), ("Straße", " strasse "),
      ("STRAẞE", " strasse "),
      ("ΣΊΣΥΦΟΣ", " σισυφοσ "), ("Ёлка", " елка "), ("ＡＢＣ１", " abc1 "), ("ﾊﾟﾝ", " パン "),
      ("İstanbul ısı", " istanbul isi "), ("Mø, Łódź, Ægir", " mo lodz aegir "),
      ("don't AC/DC", " don t ac dc "), ("C++", " c + + "), ("soft\u{AD}ly", " softly "),
      ("iPhoneを買う", " iphone を買う "), ("한국어", " 한국어 "), ("שָׁלוֹם", " שלום "),
      ("مُحَمَّد", " محمد "), ("हिन्दी", " हिन्दी "), ("ﬁn", " fin "), ("a\u{0}b", " a b "),
      ("I ❤️ U", " i ❤ u "), ("が", " が "), ("か\u{3099}", " が "), ("ab\r\ncd", " ab cd "),
    ])
  func folding(_ text: String, _ expected: String) {
    #expect(folded(text) == expected)
    #expect(folded(folded(text)) == expected)
  }

  @Test("Each folded letter has the range of its original bytes")
  func origins() {
    for text in ["Dvořák is", "STRASSE", "か\u{3099}ß!", "ﾊﾟx"] {
      let folded = FoldedText(text, keepsOrigins: true)
      #expect(folded.origins.count == folded.scalars.count)
      let bytes = Array(text.utf8)
      for (scalar, origin) in zip(folded.scalars, folded.origins) where scalar != FoldedText.space {
        let part = String(decoding: bytes[origin], as: UTF8.self)
        #expect(FoldedText(part).scalars.contains(scalar))
      }
    }
  }

  @Test("The Unicode tables used for folding are those of the version in the stamp")
  func unicode() {
    let number = Double(ScalarFolding.unicodeVersion) ?? 0
    #expect(number >= 15 && number < 100, "\(ScalarFolding.unicodeVersion)")
    // Of this version the folding of everything is known: a change of it needs another stamp.
    guard ScalarFolding.unicodeVersion == FoldingTests.knownVersion else { return }
    var hash: UInt64 = 14_695_981_039_346_656_037
    for value in 0...0x10FFFF as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(value) else { continue }
      for (folded, kind) in ScalarFolding.fold(Character(scalar)) {
        hash = (hash ^ UInt64(folded) << 8 ^ UInt64(kind.rawValue)) &* 1_099_511_628_211
      }
      hash = (hash ^ UInt64(value)) &* 1_099_511_628_211
    }
    #expect(hash == FoldingTests.knownFolding, "\(ScalarFolding.unicodeVersion): \(hash)")
  }

  private static let knownVersion = "17.0"
  private static let knownFolding: UInt64 = 6_049_142_687_814_057_694

  @Test("A chunk has the bytes of the format's description")
  func chunk() throws {
    var collector = PostingCollector()
    collector.add(7, FoldedText("Love"))
    collector.add(9, FoldedText("Love, lov"))
    let letters = "lov".unicodeScalars.reduce(0 as UInt64) { $0 << 21 | UInt64($1.value) }
    let list = try #require(collector.takeLists().first { $0.trigram == letters })
    #expect(
      PostingFormat.key(0, letters, row: 7)
        == [1, 0, 0, 0, 0x6C, 0, 0, 0x6F, 0, 0, 0x76, 0, 0, 0, 7])
    let value = PostingChunk.value(list.firstRow, list.lastRow, list.bytes)
    #expect(value == [0x02, 0x02, 0x02, 0x03, 0x0A])
  }

  @Test("The length of a text is stored in a byte, with an error of less than an eighth")
  func lengths() {
    var last: UInt8 = 0
    for length in Array(0..<5000) + [70_000, 1_000_000, (1 << 22) - 1] {
      let code = PostingFormat.code(length: length)
      #expect(code >= last)
      last = code
      let back = PostingFormat.length(code: code)
      #expect(back <= length && (length - back) * 8 <= length)
      if length < 128 { #expect(back == length) }
    }
    #expect(PostingFormat.code(length: .max) == 255 || PostingFormat.code(length: .max) > 200)
  }
}
