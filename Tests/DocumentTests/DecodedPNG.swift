import CZlib

/// A PNG picture with two bits for each pixel, decoded by zlib.
struct DecodedPNG {
  let width: Int
  let height: Int
  private let colors: [[UInt8]]
  private let rows: [[UInt8]]

  /// A fault of the file.
  struct Fault: Error {
    let description: String
  }

  init(_ bytes: [UInt8]) throws {
    guard Array(bytes.prefix(8)) == [137, 80, 78, 71, 13, 10, 26, 10] else {
      throw Fault(description: "no signature")
    }
    var (offset, chunks) = (8, [String: [UInt8]]())
    while offset < bytes.count {
      let length = Self.number(bytes, offset)
      let checked = Array(bytes[offset + 4..<offset + 8 + length])
      let checksum = unsafe crc32(0, checked, UInt32(checked.count))
      guard Self.number(bytes, offset + 8 + length) == Int(checksum) else {
        throw Fault(description: "a chunk with a wrong checksum")
      }
      chunks[String(decoding: checked.prefix(4), as: UTF8.self)] = Array(checked.dropFirst(4))
      offset += 12 + length
    }
    guard let header = chunks["IHDR"], let palette = chunks["PLTE"], let alpha = chunks["tRNS"],
      let packed = chunks["IDAT"], chunks["IEND"] == [], Array(header[8...]) == [2, 3, 0, 0, 0]
    else { throw Fault(description: "a chunk is missing") }
    (width, height) = (Self.number(header, 0), Self.number(header, 4))
    colors = alpha.indices.map { Array(palette[3 * $0..<3 * $0 + 3]) + [alpha[$0]] }
    let rowSize = 1 + (width + 3) / 4
    let unpacked = try Self.unpacked(packed, count: rowSize * height)
    rows = (0..<height).map { Array(unpacked[$0 * rowSize..<($0 + 1) * rowSize]) }
    guard rows.allSatisfy({ $0[0] == 0 }) else { throw Fault(description: "a filtered row") }
  }

  private static func unpacked(_ packed: [UInt8], count: Int) throws -> [UInt8] {
    // One more, to notice if there is more.
    var unpacked = [UInt8](repeating: 0, count: count + 1)
    var length = UInt(unpacked.count)
    guard unsafe uncompress(&unpacked, &length, packed, UInt(packed.count)) == Z_OK,
      length == count
    else { throw Fault(description: "pixels that zlib does not read") }
    return Array(unpacked.dropLast())
  }

  private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The red, green, blue and alpha of a pixel.
  func color(_ x: Int, _ y: Int) -> [UInt8] {
    colors[Int(rows[y][1 + x / 4] >> UInt8(6 - 2 * (x % 4)) & 3)]
  }

  /// The number of pixels of a color in a row.
  func count(of color: [UInt8], row: Int) -> Int {
    (0..<width).count { self.color($0, row) == color }
  }
}
