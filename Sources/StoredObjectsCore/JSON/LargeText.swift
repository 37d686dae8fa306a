import FoundationEssentials
import StoreEngine

/// A text of a file of JSON that is too large for memory.
///
/// All of its characters are those of Base64, perhaps with a backslash in front of a slash.
struct LargeText {
  /// Texts of so many bytes are large.
  static let minimumByteCount = 1 << 16
  /// So many bytes are read at a time.
  static let pieceSize = 1 << 16

  let file: StoreFile
  /// Where the text is in the file.
  let range: Range<Int>

  /// The text.
  func text() throws -> String {
    var bytes: [UInt8] = []
    try forEachPiece { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Passes the characters to a closure, in pieces.
  private func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let piece = try file.read(min(Self.pieceSize, range.upperBound - offset), at: offset)
      guard !piece.isEmpty else {
        throw StoreError(.ioError, "The file has become shorter while it was read.")
      }
      offset += piece.count
      try body(piece.filter { $0 != UInt8(ascii: "\\") })
    }
  }

  /// Passes the bytes of the Base64 to a closure, in pieces.
  ///
  /// - Returns: whether the text is Base64; the closure may have got some bytes of one that isn't.
  func forEachDecodedPiece(_ body: ([UInt8]) throws -> Void) throws -> Bool {
    var (rest, isEnded, isSound) = ([UInt8](), false, true)
    try forEachPiece { piece in
      if !isSound { return }
      rest += piece
      // Four characters are three bytes.
      let whole = rest.count - rest.count % 4
      if whole == 0 { return }
      let padding = rest.firstIndex(of: UInt8(ascii: "=")) ?? whole
      // Padding is the last one or two characters, and nowhere else.
      guard !isEnded, padding >= whole - 2,
        let bytes = Data(base64Encoded: Data(rest.prefix(whole)))
      else {
        isSound = false
        return
      }
      isEnded = padding < whole
      rest.removeFirst(whole)
      try body([UInt8](bytes))
    }
    return isSound && rest.isEmpty
  }

  /// The bytes of the Base64; nil if it is none.
  func decoded() throws -> [UInt8]? {
    var bytes: [UInt8] = []
    return try forEachDecodedPiece { bytes += $0 } ? bytes : nil
  }

  /// The number of bytes of the Base64, about.
  var decodedByteCount: Int { range.count / 4 * 3 }
}
