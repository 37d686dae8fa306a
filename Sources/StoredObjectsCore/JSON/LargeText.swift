import FoundationEssentials
import StoreEngine

/// A text in a JSON file that is too large for memory.
///
/// All its characters are Base64 characters, with optional backslashes before slashes.
struct LargeText {
  /// The size from which a text is large.
  static let minimumByteCount = 1 << 16
  /// The number of bytes to read at a time.
  static let pieceSize = 1 << 16

  let file: StoreFile
  /// The position of the text in the file.
  let range: Range<Int>

  /// Returns the text.
  func text() throws -> String {
    var bytes: [UInt8] = []
    try forEachPiece { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Calls a closure with the characters, in pieces.
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

  /// Calls a closure with the decoded Base64 bytes, in pieces.
  ///
  /// - Returns: Whether the text is Base64. If it is not, the closure may have received some bytes.
  func forEachDecodedPiece(_ body: ([UInt8]) throws -> Void) throws -> Bool {
    var (rest, isEnded, isSound) = ([UInt8](), false, true)
    try forEachPiece { piece in
      if !isSound { return }
      rest += piece
      // Four characters decode to three bytes.
      let whole = rest.count - rest.count % 4
      if whole == 0 { return }
      let padding = rest.firstIndex(of: UInt8(ascii: "=")) ?? whole
      // Padding may only be the last one or two characters.
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

  /// Returns the decoded bytes, or nil if the text is not Base64.
  func decoded() throws -> [UInt8]? {
    var bytes: [UInt8] = []
    return try forEachDecodedPiece { bytes += $0 } ? bytes : nil
  }

  /// The approximate number of decoded bytes.
  var decodedByteCount: Int { range.count / 4 * 3 }
}
