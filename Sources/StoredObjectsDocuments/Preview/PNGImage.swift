/// A picture of four colors, which is written as PNG.
///
/// Two bits for each pixel keep it small without compression: 16 KB for 256 times 256 pixels. See
/// https://www.w3.org/TR/png-3/
struct PNGImage {
  /// The red, green, blue and alpha of a color.
  typealias Color = (UInt8, UInt8, UInt8, UInt8)

  let width: Int
  let height: Int
  private let colors: [Color]
  /// The pixels, row by row, as indices into the colors.
  private var pixels: [UInt8]

  /// Creates a picture that has the first color everywhere.
  ///
  /// - Precondition: There are four colors.
  init(width: Int, height: Int, colors: [Color]) {
    precondition(colors.count == 4, "a picture has four colors")
    (self.width, self.height, self.colors) = (width, height, colors)
    pixels = [UInt8](repeating: 0, count: width * height)
  }

  /// Colors a row of pixels; parts outside of the picture are left out.
  mutating func fill(_ columns: Range<Int>, row: Int, _ color: UInt8) {
    guard (0..<height).contains(row) else { return }
    for column in columns.clamped(to: 0..<width) { pixels[row * width + column] = color }
  }

  /// Colors a rectangle.
  mutating func fill(_ columns: Range<Int>, _ rows: Range<Int>, _ color: UInt8) {
    for row in rows { fill(columns, row: row, color) }
  }

  // MARK: Encoding

  /// The bytes of the file.
  var encoded: [UInt8] {
    var bytes = PNGHeader.signature
    // Two bits of an index for each pixel, no interlacing.
    Self.append("IHDR", Self.number(width) + Self.number(height) + [2, 3, 0, 0, 0], to: &bytes)
    Self.append("PLTE", colors.flatMap { [$0.0, $0.1, $0.2] }, to: &bytes)
    Self.append("tRNS", colors.map(\.3), to: &bytes)
    Self.append("IDAT", Self.stored(rows), to: &bytes)
    Self.append("IEND", [], to: &bytes)
    return bytes
  }

  /// The rows, each behind the number of its filter: none.
  private var rows: [UInt8] {
    var rows: [UInt8] = []
    for row in 0..<height {
      rows.append(0)
      for start in stride(from: 0, to: width, by: 4) {
        let four = (0..<4).map { start + $0 < width ? pixels[row * width + start + $0] : 0 }
        rows.append(four.reduce(0) { $0 << 2 | $1 })
      }
    }
    return rows
  }

  private static func append(_ kind: String, _ content: [UInt8], to bytes: inout [UInt8]) {
    bytes += number(content.count)
    let checked = Array(kind.utf8) + content
    var checksum = ArchiveChecksum()
    checksum.add(checked)
    bytes += checked + number(Int(checksum.value))
  }

  private static func number(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// Returns bytes as a zlib stream without compression; see RFC 1950 and 1951.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    for start in stride(from: 0, to: bytes.count, by: 65_535) {
      let block = bytes[start..<min(start + 65_535, bytes.count)]
      let count = UInt16(block.count)
      stream.append(block.endIndex == bytes.count ? 1 : 0)
      for number in [count, ~count] {
        stream += [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
      }
      stream += block
    }
    let (low, high) = bytes.reduce((1, 0)) { sums, byte in
      let low = (sums.0 + Int(byte)) % 65_521
      return (low, (sums.1 + low) % 65_521)
    }
    return stream + number(high << 16 | low)
  }
}
