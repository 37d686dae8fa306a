import Files
import StoredObjectsTestSupport
import Testing
import TokyoCabinetFile

@Suite("Salvaging hash files")
struct SalvageTests {
  private func salvaged(_ bytes: [UInt8]) throws -> (records: Records, salvage: HashFileSalvage) {
    var salvage = HashFileSalvage(bytes: bytes)
    var records: Records = [:]
    salvage.run { key, value, _ in records[[UInt8](copying: key)] = [UInt8](copying: value) }
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

  @Test("A destroyed record is lost, and the records after it are found")
  func gap() throws {
    var (bytes, records) = try file(.little, [])
    let offset = try #require(bytes.lastIndex(of: 49)) - 200
    bytes[offset - 1] = 0xC8
    let first = Int(try HashFile(bytes: bytes).header.firstRecord)
    bytes[first] = 0
    records[Fixtures.key(0)] = nil
    let (found, salvage) = try salvaged(bytes)
    #expect(salvage.gaps.first?.lowerBound == first)
    #expect(salvage.expectedCount == 50)
    #expect(found.keys.filter { records[$0] == nil } == [])
    #expect(found.count >= 47)
  }

  @Test("A truncated file gives the remaining records and the number of missing bytes")
  func cut() throws {
    let (bytes, records) = try file(.big, .large)
    let (found, salvage) = try salvaged(Array(bytes.dropLast(30)))
    #expect(salvage.missingCount == 30)
    #expect(found.count == 49)
    #expect(found.allSatisfy { records[$0.key] == $0.value })
  }

  @Test("Compressed values are decompressed, and damaged ones are counted")
  func compressed() throws {
    var (bytes, records) = try file(.big, .deflate)
    #expect(try salvaged(bytes).records == records)
    let first = Int(try HashFile(bytes: bytes).header.firstRecord)
    bytes[first + 18] = 0xFF
    let (found, salvage) = try salvaged(bytes)
    #expect(salvage.unreadableCount == 1)
    #expect(found.count == 49)
  }

  @Test("Bytes that look like records everywhere cost little", .timeLimit(.minutes(1)))
  func marks() throws {
    let pattern: [UInt8] = [0xC8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x7F, 0]
    let bytes = (0..<40_000).flatMap { _ in pattern }
    #expect(try salvaged(bytes).records.count < 40_000)
  }

  @Test(
    "One flipped bit anywhere costs at most one record",
    arguments: HashFileHeader.ByteOrder.allCases, [1, 3, 40])
  func flippedBits(order: HashFileHeader.ByteOrder, count: Int) throws {
    let records = (0..<UInt32(count)).map { row in
      // Many of one size, so that a wrong size leads to where another record begins.
      (
        key: Fixtures.key(row + 2),
        value: [UInt8](repeating: UInt8(row), count: row % 5 == 0 ? Int(row) : 12)
      )
    }
    let layout = HashFileLayout(byteOrder: order, bucketCount: 7, alignmentPower: 4)
    let bytes = try HashFileWriter.bytes(layout: layout, records: records)
    let all = Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0.value) })
    let first = Int(try HashFile(bytes: bytes).header.firstRecord)
    for offset in Array(32..<72) + Array(first..<bytes.count) {
      // A file that says it is compressed is another matter.
      if offset == 36 { continue }
      for bit in 0..<8 {
        var flipped = bytes
        flipped[offset] ^= 1 << bit
        let found = try salvaged(flipped).records
        let right = all.filter { found[$0.key] == $0.value }.count
        #expect(right >= all.count - (offset < first ? 0 : 1), "byte \(offset), bit \(bit)")
      }
    }
  }

  @Test("A size that skips records costs nothing if checksums prove their contents")
  func skippingPadding() throws {
    let records = (0..<1000 as Range<UInt32>).map { row in
      (key: Fixtures.key(row + 2), value: [UInt8](repeating: UInt8(row & 0xFF), count: 12))
    }
    let layout = HashFileLayout(byteOrder: .little, bucketCount: 7, alignmentPower: 4)
    var bytes = try HashFileWriter.bytes(layout: layout, records: records)
    let first = Int(try HashFile(bytes: bytes).header.firstRecord)
    // The padding of the third record: 32 bytes each, and the higher byte of the size.
    bytes[first + 2 * 32 + 11] = 0x10
    var salvage = HashFileSalvage(bytes: bytes)
    var rows: [UInt8] = []
    salvage.run { key, value in
      value.byteCount == 12
    } _: { _, value, record in
      #expect(record.isCertain)
      rows.append(value.loadByte(at: 0))
    }
    #expect(rows == (0..<1000).map { UInt8($0 & 0xFF) })
    #expect(salvage.gaps == [])
  }
}
