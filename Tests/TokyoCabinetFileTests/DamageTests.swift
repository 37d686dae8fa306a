import Files
import FormatFuzzing
import Foundation
import StoredObjectsTestSupport
import Testing
import TokyoCabinetFile

@Suite("Damaged hash files")
struct DamageTests {
  private let layout = HashFileLayout(bucketCount: 1, alignmentPower: 2, freeBlockPower: 0)

  /// A file of one bucket, in whose tree 1, 2 and 3 hang: 3 at the root.
  private func file() throws -> [UInt8] {
    try HashFileWriter.bytes(
      layout: layout, records: [1, 2, 3].map { ([$0], [UInt8](repeating: $0, count: 10)) })
  }

  /// Where the record of a number begins; each takes 28 bytes.
  private func offset(_ number: Int, in bytes: [UInt8]) throws -> Int {
    try Int(HashFile(bytes: bytes).header.firstRecord) + 28 * (number - 1)
  }

  private func error(_ body: () throws -> Void) -> HashFileError? {
    do {
      try body()
      return nil
    } catch {
      return error as? HashFileError
    }
  }

  @Test("A file that is not a hash file is refused", arguments: [0, 10, 255, 256, 5000])
  func noHashFile(count: Int) {
    let bytes = [UInt8](repeating: 0x54, count: count)
    #expect(error { _ = try HashFile(bytes: bytes) }?.code == .notAHashFile)
  }

  @Test("A file of another kind, and a truncated file, are refused")
  func header() throws {
    var bytes = try file()
    bytes[32] = 1
    #expect(error { _ = try HashFile(bytes: bytes) }?.code == .notAHashFile)
    let cut = try Array(file().dropLast())
    let fault = error { _ = try HashFile(bytes: cut, path: "here") }
    #expect(fault?.code == .truncated)
    #expect(fault?.path == "here")
    #expect(fault?.offset == cut.count)
    bytes = try file()
    bytes[34] = 63
    #expect(error { _ = try HashFile(bytes: bytes) }?.code == .damaged)
  }

  @Test("Circular links end")
  func circle() throws {
    var bytes = try file()
    // All 8 bytes of links lead back to the root: whichever side is asked for.
    let root = Array(bytes[256..<260])
    for number in [1, 2] {
      let offset = try offset(number, in: bytes)
      bytes.replaceSubrange(offset + 2..<offset + 10, with: root + root)
    }
    let hashFile = try HashFile(bytes: bytes)
    for key in [[0], [9]] as [[UInt8]] {
      let fault = error { _ = try hashFile.value(forKey: key) }
      #expect(fault?.code == .damaged)
      #expect(fault?.message.contains("cycle") == true)
    }
    let fault = error { _ = try hashFile.contains(rows: [1, 2, 3]) }
    #expect(fault?.message.contains("cycle") == true)
    let check = hashFile.check()
    #expect(check.findings.contains { $0.part == .index && $0.message.contains("twice") })
  }

  @Test(
    "A link that points outside of the file is reported with its place", arguments: [0xFF, 0x7F])
  func wildLink(byte: UInt8) throws {
    var bytes = try file()
    let root = try offset(3, in: bytes)
    bytes.replaceSubrange(root + 2..<root + 10, with: [UInt8](repeating: byte, count: 8))
    let hashFile = try HashFile(bytes: bytes)
    #expect(error { _ = try hashFile.value(forKey: [1]) }?.code == .damaged)
    #expect(try hashFile.value(forKey: [3]) == [UInt8](repeating: 3, count: 10))
    #expect(hashFile.check().findings.contains { $0.message.contains("no record") })
  }

  @Test("Sizes that lead outside of the file end a scan, with the offset of the record")
  func sizes() throws {
    var bytes = try file()
    let offset = try offset(3, in: bytes)
    bytes[offset + 13] = 0x7F
    let hashFile = try HashFile(bytes: bytes)
    var count = 0
    let fault = error { try hashFile.forEach { _, _ in count += 1 } }
    #expect(count == 2)
    #expect(fault?.offset == offset)
    #expect(hashFile.check().findings.first?.offset == offset)
    bytes.replaceSubrange(offset + 12..<offset + 18, with: [UInt8](repeating: 0x80, count: 6))
    #expect(error { try HashFile(bytes: bytes).forEach { _, _ in } }?.offset == offset)
  }

  @Test("A wrong count, a lost record, a wrong hash and a wrong order are all found")
  func check() throws {
    var bytes = try file()
    bytes[55] = 4
    #expect(try HashFile(bytes: bytes).check().findings.map(\.part) == [.header])
    bytes = try file()
    let root = try offset(3, in: bytes)
    bytes.replaceSubrange(root + 2..<root + 6, with: [0, 0, 0, 0])
    #expect(
      try HashFile(bytes: bytes).check().findings.first?.message.hasPrefix("1 records") == true)
    bytes = try file()
    bytes[root + 1] ^= 1
    #expect(
      try HashFile(bytes: bytes).check().findings.contains { $0.message.contains("second hash") })
    bytes = try file()
    let links = Array(bytes[root + 2..<root + 10])
    bytes.replaceSubrange(root + 2..<root + 10, with: links.suffix(4) + links.prefix(4))
    #expect(
      try HashFile(bytes: bytes).check().findings.contains { $0.message.contains("wrong side") })
  }

  @Test("A damaged list of free blocks is found")
  func pool() throws {
    var bytes = try file()
    bytes[260] = 3
    #expect(try HashFile(bytes: bytes).check().findings.map(\.part) == [.pool])
    bytes.replaceSubrange(260..<270, with: [UInt8](repeating: 0x80, count: 10))
    #expect(throws: HashFileError.self) { try HashFile(bytes: bytes).freeBlockPool() }
  }

  @Test("A damaged compressed value is reported, and so is one that expands endlessly")
  func compressed() throws {
    var layout = layout
    layout.options = .deflate
    let value = (0..<200).map { UInt8(truncatingIfNeeded: $0 * $0) }
    var bytes = try HashFileWriter.bytes(layout: layout, records: [([1], value)])
    let offset = try offset(1, in: bytes)
    #expect(try HashFile(bytes: bytes).value(forKey: [1]) == value)
    for index in offset + 17..<offset + 60 { bytes[index] = 0xFF }
    let fault = error { _ = try HashFile(bytes: bytes).value(forKey: [1]) }
    #expect(fault?.code == .damaged)
    #expect(fault?.offset == offset)
  }

  @Test("Files damaged in random ways do no harm")
  func fuzz() throws {
    var run = FuzzRun(FuzzedHashFile(), seed: Seeds.current)
    _ = Seeds.generator(for: "damaged hash files")
    for round in 0..<1500 as Range<UInt64> { try run.run(round: round, limit: .seconds(20)) }
    print(run.summary)
    #expect(run.count == 1500)
  }

  @Test("The same is true of files that led a fuzzer to new code")
  func corpus() throws {
    let counts = try FuzzCorpus.read(FuzzedHashFile())
    #expect(counts.sound > 3 && counts.refused > 20)
  }
}
