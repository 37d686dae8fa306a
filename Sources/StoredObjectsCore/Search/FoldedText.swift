import Files
import StoreEngine

/// A text in the form that is searched: folded words, with a space before each and after the last.
///
///     " walking on sunshine "     of "Walking on Sunshine!"
///
/// So a word boundary is a letter like any other: a search for the word *on* looks for " on ". A text
/// without words is empty.
struct FoldedText {
  static let space: UInt32 = 0x20
  /// The end mark after the last space, which no text contains.
  static let end: UInt32 = 0

  private(set) var scalars: [UInt32] = []
  /// The bytes of the original text for each scalar; empty unless requested.
  private(set) var origins: [Range<Int>] = []
  private var last = TextClass.separator
  private let keepsOrigins: Bool

  init() { keepsOrigins = false }

  init(_ text: String, keepsOrigins: Bool = false) {
    self.keepsOrigins = keepsOrigins
    fold(text)
  }

  var isEmpty: Bool { scalars.isEmpty }

  /// Accesses a scalar, or the end mark after the last.
  @inline(__always)
  subscript(index: Int) -> UInt32 { index < scalars.count ? scalars[index] : Self.end }

  /// Replaces the text, and reuses the memory.
  mutating func fold(_ text: String) {
    scalars.removeAll(keepingCapacity: true)
    origins.removeAll(keepingCapacity: true)
    last = .separator
    if !text.utf8.isEmpty { foldScalars(text) }
    if let end = origins.last?.upperBound, !isEmpty { origins.append(end..<end) }
    if !isEmpty { scalars.append(Self.space) }
  }

  private mutating func foldScalars(_ text: String) {
    if foldASCII(text) { return }
    if text.unicodeScalars.allSatisfy({ $0.value < 0x300 || ScalarFolding.isPlain($0.value) }) {
      foldPlain(text)
    } else {
      foldCharacters(text)
    }
  }

  /// Folds a text of ASCII characters only; returns false without a change for others.
  private mutating func foldASCII(_ text: String) -> Bool {
    let ascii = ScalarFolding.ascii
    return text.lendUTF8 { bytes in
      for index in 0..<bytes.byteCount where bytes.loadByte(at: index) >= 0x80 { return false }
      for index in 0..<bytes.byteCount {
        let (scalar, kind) = ascii[Int(bytes.loadByte(at: index))]
        append(scalar, kind, index..<index + 1)
      }
      return true
    }
  }

  private mutating func foldPlain(_ text: String) {
    var index = 0
    for scalar in text.unicodeScalars {
      let next = index + UTF8.width(scalar)
      if scalar.value < 0x300 {
        for (scalar, kind) in ScalarFolding.small[Int(scalar.value)] {
          append(scalar, kind, index..<next)
        }
      } else {
        append(scalar.value, .unspaced, index..<next)
      }
      index = next
    }
  }

  private mutating func foldCharacters(_ text: String) {
    var index = 0
    for character in text {
      let next = index + character.utf8.count
      for (scalar, kind) in ScalarFolding.fold(character) { append(scalar, kind, index..<next) }
      index = next
    }
  }

  @inline(__always)
  private mutating func append(_ scalar: UInt32, _ kind: TextClass, _ origin: Range<Int>) {
    if kind == .separator {
      last = .separator
      return
    }
    var kind = kind
    if kind == .mark { kind = last == .unspaced ? .unspaced : .word }
    if kind != last || kind == .symbol {
      add(Self.space, origin.lowerBound..<origin.lowerBound)
      last = kind
    }
    add(scalar, origin)
  }

  @inline(__always)
  private mutating func add(_ scalar: UInt32, _ origin: Range<Int>) {
    scalars.append(scalar)
    if keepsOrigins { origins.append(origin) }
  }
}

extension UTF8 {
  fileprivate static func width(_ scalar: Unicode.Scalar) -> Int {
    scalar.value < 0x80 ? 1 : scalar.value < 0x800 ? 2 : scalar.value < 0x10000 ? 3 : 4
  }
}
