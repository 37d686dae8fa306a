/// The first bytes of a PNG file, with the size of the picture.
struct PNGHeader {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  static let maximumSize = 4096

  let width: Int
  let height: Int

  /// Reads the header.
  ///
  /// - Throws: ``DocumentError`` with `noPreview` for anything else than a picture of reasonable
  ///   size.
  init(_ bytes: [UInt8], at path: String = "") throws(DocumentError) {
    func number(_ offset: Int) -> Int {
      bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    let isPNG =
      bytes.count >= 33 && Array(bytes[..<8]) == Self.signature
      && Array(bytes[12..<16]) == Array("IHDR".utf8)
    guard isPNG else {
      throw DocumentError(.noPreview, "The picture is not a PNG file.", at: path)
    }
    (width, height) = (number(16), number(20))
    guard (1...Self.maximumSize).contains(width), (1...Self.maximumSize).contains(height) else {
      throw DocumentError(
        .noPreview, "The picture has no size from 1 to \(Self.maximumSize) pixels.", at: path)
    }
  }
}
