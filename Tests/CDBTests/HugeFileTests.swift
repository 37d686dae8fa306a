import Files
import Foundation
import TestFiles
import Testing

@testable import CDB

/// Positions beyond 4 GiB, in a file that is nearly all hole.
@Suite("Files beyond 4 GiB")
struct HugeFileTests {
  private static func bytes(_ numbers: [UInt64]) -> Data {
    Data(
      numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } })
  }

  @Test("A wide reader finds a record after 4 GiB, by a table after 5 GiB")
  func reading() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/huge.cdb"
      let (key, value) = (Array("a key".utf8), Array("far away".utf8))
      let hash = key.reduce(UInt64(5_381)) { ($0 &* 33) ^ UInt64($1) }
      let (position, table) = (UInt64(9) << 29, UInt64(5) << 30)
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      let file = try #require(FileHandle(forWritingAtPath: path))
      try file.truncate(atOffset: table + 32)
      let parts = [
        ((hash & 255) * 16, Self.bytes([table, 2])),
        (position, Self.bytes([UInt64(key.count), UInt64(value.count)]) + Data(key + value)),
        (table + (hash >> 8) % 2 * 16, Self.bytes([hash, position])),
      ]
      for (offset, part) in parts {
        try file.seek(toOffset: offset)
        try file.write(contentsOf: part)
      }
      try file.close()
      let reader = try CDBReader(path, format: .wide)
      #expect(reader.byteCount == Int(table) + 32 && reader.count == 1)
      #expect(try reader.value(forKey: key) == value)
      #expect(try reader.value(forKey: "none") == nil)
    }
  }

  @Test("A wide writer adds and replaces records after 4 GiB, and writes its tables there")
  func writing() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/huge.cdb"
      let writer = try CDBWriter(path, format: .wide)
      try writer.add("near", forKey: "before")
      try addZeros(5 << 30, forKey: [1, 2, 3], writer)
      for number in 0..<500 {
        try writer.add("old", forKey: "key \(number % 400)", ifPresent: .replace)
      }
      try writer.add("far", forKey: "key 7", ifPresent: .replace)
      #expect(try writer.add("none", forKey: "key 8", ifPresent: .insertIfAbsent) == .keptOld)
      let byteCount = writer.byteCount
      try writer.finish(synchronize: false)
      let reader = try CDBReader(path, format: .wide)
      #expect(reader.count == 402 && reader.byteCount == byteCount && byteCount > 5 << 30)
      try reader.verify()
      #expect(try reader.value(forKey: "before") == Array("near".utf8))
      #expect(try reader.withValue(forKey: [1, 2, 3]) { $0.byteCount } == 5 << 30)
      for number in 0..<400 {
        let value = number == 7 ? "far" : "old"
        #expect(try reader.values(forKey: Array("key \(number)".utf8)) == [Array(value.utf8)])
      }
    }
  }

  /// Adds a record whose value is a hole in the file, which takes no room on the disk.
  private func addZeros(_ count: Int, forKey key: [UInt8], _ writer: CDBWriter) throws {
    let position = UInt64(writer.records.output.position)
    try writer.records.output.append(UInt64(key.count), UInt64(count), .wide)
    try key.lend { (key) throws(SystemError) in try writer.records.output.append(key) }
    try writer.records.output.flush()
    writer.records.output.flushed += count
    let hash = key.lend { CDBHash.hash($0, .wide) }
    writer.records.index.add(CDBIndex.Entry(hash: hash, position: position))
  }

  @Test("The tables of a wide writer have positions above 4 GiB, and room for equal slots")
  func index() {
    var index = CDBIndex(.wide)
    let entries = (0..<40).map { number in
      CDBIndex.Entry(hash: UInt64(number % 3) | 1 << 40, position: UInt64(number + 1) << 33)
    }
    for entry in entries { index.add(entry) }
    index.remove([entries[5].position])
    index.movePositions { $0 + 1 }
    let (sorted, starts) = index.byTable()
    #expect(index.count == 39 && starts.last == 39)
    var found: [UInt64] = []
    for table in 0..<256 {
      let words = sorted.slots(of: starts[table]..<starts[table + 1])
      for slot in stride(from: 0, to: words.count, by: 2) where words[slot + 1] != 0 {
        #expect(Int(words[slot] & 255) == table && words[slot] >> 40 == 1)
        found.append(words[slot + 1])
      }
    }
    #expect(
      found.sorted() == entries.map { $0.position + 1 }.filter { $0 != entries[5].position + 1 })
  }
}
