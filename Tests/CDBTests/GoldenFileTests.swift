import CDB
import Foundation
import TestFiles
import Testing

/// Bytes written in hex, as on the format page.
private func hex(_ text: String) -> [UInt8] {
  text.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
}

/// A header in which only two tables have slots, two each.
private func header(wordSize: Int, tablesAt start: Int) -> [UInt8] {
  var (bytes, position): ([UInt8], Int) = ([], start)
  for table in 0..<256 {
    let slots = table == 0xC4 || table == 0xC7 ? 2 : 0
    for number in [position, slots] {
      bytes += (0..<wordSize).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    position += slots * 2 * wordSize
  }
  return bytes
}

/// The examples of the page <doc:CDBFileFormat>.
@Suite("The bytes of the format page")
struct GoldenFileTests {
  static let classic =
    header(wordSize: 4, tablesAt: 0x816)
    + hex(
      """
      01 00 00 00 01 00 00 00 61 31
      01 00 00 00 03 00 00 00 62 74 77 6F
      00 00 00 00 00 00 00 00 C4 B5 02 00 00 08 00 00
      00 00 00 00 00 00 00 00 C7 B5 02 00 0A 08 00 00
      """)

  static let wide =
    header(wordSize: 8, tablesAt: 0x1026)
    + hex(
      """
      01 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 61 31
      01 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 62 74 77 6F
      00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
      C4 B5 02 00 00 00 00 00 00 10 00 00 00 00 00 00
      00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
      C7 B5 02 00 00 00 00 00 12 10 00 00 00 00 00 00
      """)

  private let pairs = [Pair("a", "1"), Pair("b", "two")]

  @Test(
    "A file of two records is written and read as the example says",
    arguments: [(CDBFormat.classic, classic), (.wide, wide)])
  func example(format: CDBFormat, example: [UInt8]) throws {
    try withTemporaryDirectory { directory in
      try write(pairs, to: directory + "/a.cdb", format: format)
      #expect(try bytes(directory + "/a.cdb") == example)
      let reader = try CDBReader(copying: example, format: format)
      #expect(try records(reader) == pairs)
      try reader.verify()
    }
  }

  @Test("In the wide format a hash has 64 bits")
  func wideHash() throws {
    try withTemporaryDirectory { directory in
      let key = Array("a key of more than a few bytes".utf8)
      let hash = key.reduce(UInt64(5_381)) { ($0 &* 33) ^ UInt64($1) }
      try write([Pair(key, [1])], to: directory + "/a.cdb", format: .wide)
      let slots = try bytes(directory + "/a.cdb").suffix(32)
      #expect(hash > UInt64(UInt32.max))
      let used = Array(slots.suffix(16)).prefix(8).last == 0 ? slots.prefix(16) : slots.suffix(16)
      #expect(Array(used.prefix(8)) == (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) })
    }
  }
}
