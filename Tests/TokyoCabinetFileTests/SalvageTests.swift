import Files
import StoredObjectsTestSupport
import Testing
import TokyoCabinetFile

@Suite("Salvaging hash files")
struct SalvageTests {
  private func salvaged(_ bytes: [UInt8]) throws -> (records: Records, salvage: HashFileSalvage) {
    var salvage = HashFileSalvage(bytes: bytes)
    var records: Records = [:]
    try salvage.run { key, value, _ in records[[UInt8](copying: key)] = [UInt8](copying: value) }
    return (records, salvage)
  }

  private func file(
    _ order: HashFileHeader.ByteOrder, _ options: HashFileOptions, _ count: UInt32 = 50
  ) throws -> (bytes: [UInt8], records: Records) {
    let records = (0..<count).map { row in
      (key: Fixtures.key(row), value: [UInt8](repeating: UInt8(row), count: Int(row)))
    }
    let layout = HashFileLayout(
      byteOrder: order, bucketCount: 7, alignmentPower: 3, options: options)
    let bytes = try HashFileWriter.bytes(layout: layout, records: records)
    return (bytes, Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0.value) }))
  }

  @Test(
    "A file without a header gives all its records, whatever its byte order and offsets",
    arguments: HashFileHeader.ByteOrder.allCases, [HashFileOptions(), .large])
  func noHeader(order: HashFileHeader.ByteOrder, options: HashFileOptions) throws {
    var (bytes, records) = try file(order, options)
    for index in 0..<256 { bytes[index] = 0 }
    let (found, salvage) = try salvaged(bytes)
    #expect(salvage.header == nil)
    #expect(found == records)
  }

  @Test("A destroyed record costs that record, and what is behind it is found")
  func gap() throws {
    var (bytes, records) = try file(.little, [])
    let place = try #require(bytes.lastIndex(of: 49)) - 200
    bytes[place - 1] = 0xC8
    let first = Int(try HashFile(bytes: bytes).header.firstRecord)
    bytes[first] = 0
    records[Fixtures.key(0)] = nil
    let (found, salvage) = try salvaged(bytes)
    #expect(salvage.gaps.first?.lowerBound == first)
    #expect(salvage.expectedCount == 50)
    #expect(found.keys.filter { records[$0] == nil } == [])
    #expect(found.count >= 47)
  }

  @Test("A file that was cut off gives what is left, and says how much is missing")
  func cut() throws {
    let (bytes, records) = try file(.big, .large)
    let (found, salvage) = try salvaged(Array(bytes.dropLast(30)))
    #expect(salvage.missingCount == 30)
    #expect(found.count == 49)
    #expect(found.allSatisfy { records[$0.key] == $0.value })
  }

  @Test("Compressed values are decompressed; those that can't be are counted")
  func compressed() throws {
    var (bytes, records) = try file(.big, .deflate)
    #expect(try salvaged(bytes).records == records)
    let first = Int(try HashFile(bytes: bytes).header.firstRecord)
    bytes[first + 18] = 0xFF
    let (found, salvage) = try salvaged(bytes)
    #expect(salvage.unreadableCount == 1)
    #expect(found.count == 49)
  }

  @Test("Bytes that look like records at every place cost little", .timeLimit(.minutes(1)))
  func marks() throws {
    let pattern: [UInt8] = [0xC8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x7F, 0]
    let bytes = (0..<40_000).flatMap { _ in pattern }
    #expect(try salvaged(bytes).records.count < 40_000)
  }
}
