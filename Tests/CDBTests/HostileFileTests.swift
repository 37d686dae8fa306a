import CDB
import Foundation
import StoredObjectsTestSupport
import TestFiles
import Testing

/// Does everything that a reader can do; what is wrong with the bytes must come as an error.
///
/// - Returns: the errors.
func readAll(_ bytes: [UInt8], _ format: CDBFormat, keys: [[UInt8]]) -> [CDBError] {
  var errors: [CDBError] = []
  func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch let error as CDBError { errors.append(error) } catch {
      Issue.record("\(error) is no CDBError")
    }
  }
  attempt {
    let reader = try CDBReader(copying: bytes, format: format)
    for key in keys {
      attempt { _ = try reader.value(forKey: key) }
      attempt { _ = try reader.values(forKey: key) }
    }
    attempt { try reader.forEach { _, _ in } }
    attempt {
      var cursor = reader.cursor()
      while try cursor.next() { _ = cursor.value }
    }
    attempt { try reader.verify() }
  }
  return errors
}

@Suite("Hostile files")
struct HostileFileTests {
  private static func example(_ format: CDBFormat) throws -> (file: [UInt8], keys: [[UInt8]]) {
    try withTemporaryDirectory { directory in
      let pairs = (0..<12).map { Pair("key \($0 % 9)", String(repeating: "v", count: $0)) }
      try write(pairs, to: directory + "/a.cdb", format: format)
      return (try bytes(directory + "/a.cdb"), pairs.map(\.key) + [[], Array("none".utf8)])
    }
  }

  @Test("Each prefix of a file is an error that names a byte", arguments: CDBFormat.allCases)
  func prefixes(format: CDBFormat) throws {
    let (file, keys) = try Self.example(format)
    for count in 0..<file.count {
      let errors = readAll(Array(file[..<count]), format, keys: keys)
      #expect(!errors.isEmpty, "\(count) bytes")
      #expect(errors.allSatisfy { $0.code == .damaged && $0.offset != nil })
    }
    #expect(readAll(file, format, keys: keys).isEmpty)
  }

  @Test("Any value of any byte does not crash", arguments: CDBFormat.allCases)
  func flippedBytes(format: CDBFormat) throws {
    let (file, keys) = try Self.example(format)
    for index in file.indices {
      for change: UInt8 in [0x01, 0x80, 0xFF] {
        var bytes = file
        bytes[index] ^= change
        let errors = readAll(bytes, format, keys: keys)
        #expect(errors.allSatisfy { $0.offset != nil && $0.path == "memory" })
      }
    }
  }

  @Test("A flipped byte of a header, a length or a slot is found by verify()")
  func structure() throws {
    let (file, keys) = try Self.example(.classic)
    let values = try records(try CDBReader(copying: file))
    let dataEnd = 2_048 + values.reduce(0) { $0 + 8 + $1.key.count + $1.value.count }
    for index in Array(0..<2_048) + Array(dataEnd..<file.count) {
      var bytes = file
      bytes[index] ^= 0x10
      #expect(!readAll(bytes, .classic, keys: keys).isEmpty, "byte \(index)")
    }
  }

  @Test("Random changes, many at a time, do not crash", arguments: CDBFormat.allCases)
  func mutations(format: CDBFormat) throws {
    var random = Seeds.generator(for: "random changes of a \(format) file")
    let (file, keys) = try Self.example(format)
    for _ in 0..<3_000 {
      var bytes = file
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let index = Int.random(in: bytes.indices, using: &random)
        bytes[index] = [0, 1, 2, 8, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
      }
      if Bool.random(using: &random) {
        bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      }
      _ = readAll(bytes, format, keys: keys)
    }
  }

  @Test("A table without an empty slot ends a look-up of a missing key")
  func fullTable() throws {
    let (file, _) = try Self.example(.classic)
    var bytes = file
    // All tables are one slot that leads to the first record.
    let slot = bytes.count
    bytes += Array(bytes[2_048 + 8..<2_048 + 8]) + [1, 2, 3, 4, 0, 8, 0, 0]
    for table in 0..<256 {
      let entry = [slot & 255, slot >> 8, 0, 0, 1, 0, 0, 0].map { UInt8($0) }
      bytes.replaceSubrange(table * 8..<table * 8 + 8, with: entry)
    }
    let reader = try CDBReader(copying: bytes)
    #expect(try reader.value(forKey: "none") == nil)
  }

  @Test("Errors have a remedy, and nothing of the content")
  func descriptions() throws {
    let (file, _) = try Self.example(.classic)
    let error = readAll(Array(file[..<2_000]), .classic, keys: []).first
    #expect(error?.offset == 2_000)
    #expect(
      error?.description
        == "damaged [memory, byte 2000]: The file ends inside its header of 2048 bytes.")
  }
}
