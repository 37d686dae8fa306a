import CDB
import Files
import Foundation
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite("Salvaging constant databases")
struct SalvageTests {
  private func found(_ bytes: [UInt8], _ path: String) throws -> [[UInt8]: [UInt8]] {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    var salvage = try CDBSalvage(path)
    var found: [[UInt8]: [UInt8]] = [:]
    for isCertain in [true, false] {
      salvage.run { record in
        if record.isCertain == isCertain, found[record.key] == nil {
          found[record.key] = record.value
        }
      }
    }
    return found
  }

  @Test("One flipped bit costs one record at most", arguments: [CDBFormat.classic, .wide])
  func flippedBits(format: CDBFormat) throws {
    var random = Seeds.generator(for: "flipped bits of constant databases")
    try withTemporaryDirectory { directory in
      // Of one size, so that a wrong length leads to where another record begins.
      let pairs = (0..<40).map { Pair("key \(10 + $0)", "a value of \(10 + $0)") }
      try write(pairs, to: directory + "/a.cdb", format: format)
      let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: directory + "/a.cdb")))
      let all = try found(bytes, directory + "/a.cdb")
      #expect(all.count == pairs.count)
      for offset in bytes.indices {
        let bit = UInt8.random(in: 0..<8, using: &random)
        var flipped = bytes
        flipped[offset] ^= 1 << bit
        let found = try found(flipped, directory + "/b.cdb")
        let right = all.filter { found[$0.key] == $0.value }.count
        #expect(right >= all.count - 1, "byte \(offset), bit \(bit)")
      }
    }
  }
}
