/// A small picture of a document: a page on which each class has a bar.
///
/// It has no texts, which would be too small to read in a file manager. The bars show which
/// documents have much in them, and their color is that of the type.
struct SummaryThumbnail {
  private static let size = 256
  private static let accents: [PNGImage.Color] = [
    (0x35, 0x84, 0xE4, 255), (0x26, 0xA2, 0x69, 255), (0xC6, 0x46, 0x00, 255),
    (0x91, 0x41, 0xAC, 255), (0xB5, 0x83, 0x5A, 255), (0xC0, 0x1C, 0x28, 255),
    (0x1A, 0x5F, 0xB4, 255), (0x61, 0x35, 0x83, 255),
  ]

  private enum Ink {
    static let page: UInt8 = 1
    static let line: UInt8 = 2
    static let accent: UInt8 = 3
  }

  /// Returns the picture of a document.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the type, which chooses the color.
  ///   - counts: The number of objects of each class.
  /// - Returns: The bytes of a PNG file.
  static func png(of identifier: String, counts: [Int]) -> [UInt8] {
    let sum = identifier.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
    var image = PNGImage(
      width: size, height: size,
      colors: [
        (0, 0, 0, 0), (255, 255, 255, 255), (0x8A, 0x8F, 0x98, 255), accents[sum % accents.count],
      ])
    drawPage(&image)
    image.fill(40..<150, 48..<62, Ink.accent)
    for (index, count) in counts.prefix(7).enumerated() {
      let top = 84 + 20 * index
      image.fill(40..<80, top + 3..<top + 9, Ink.line)
      image.fill(96..<96 + length(of: count), top..<top + 12, Ink.accent)
    }
    return image.encoded
  }

  /// Draws a sheet with a folded corner.
  private static func drawPage(_ image: inout PNGImage) {
    for row in 8..<248 {
      let corner = 184 + min(48, max(0, row - 8))
      image.fill(24..<corner, row: row, Ink.page)
      image.fill(24..<26, row: row, Ink.line)
      image.fill(corner - 2..<corner, row: row, Ink.line)
      if row < 56 { image.fill(184..<186, row: row, Ink.line) }
    }
    image.fill(24..<184, 8..<10, Ink.line)
    image.fill(24..<232, 246..<248, Ink.line)
    image.fill(184..<232, 54..<56, Ink.line)
  }

  /// Returns the length of a bar: the number of digits counts, up to a million.
  private static func length(of count: Int) -> Int {
    let bits = Int.bitWidth - max(0, count).leadingZeroBitCount
    return min(20, bits) * 6
  }
}
