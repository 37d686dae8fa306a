import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

@Suite("The metadata row of a class")
struct ClassMetadataTests {
  private let full = "05 00 00 00 01 02 04 03 02 01 08 07 06 05 01 01 00 00 00 F3 27 C3 D3"

  private func read(_ hex: String) throws -> ClassMetadata {
    var buffer = DataBuffer(hex: hex)
    let metadata = try ClassMetadata(from: &buffer)
    #expect(buffer.remainingCount == 0)
    return metadata
  }

  @Test("A row of 6 bytes, without a salt, is valid")
  func short() throws {
    let metadata = try read("05 00 00 00 01 02")
    #expect(metadata.lastRowID == 5)
    #expect(metadata.classVersion == 1)
    #expect(metadata.classID == 2)
    #expect(metadata.salt == ClassMetadata.Salt(0, 0))
    #expect(metadata.flags == nil)
  }

  @Test("A row of 14 bytes of the original has no record format, and is not changed")
  func original() throws {
    let hex = "05 00 00 00 01 02 04 03 02 01 08 07 06 05"
    let metadata = try read(hex)
    #expect(metadata.salt == ClassMetadata.Salt(0x0102_0304, 0x0506_0708))
    #expect(metadata.flags == nil)
    #expect(DataBuffer.holding { metadata.write(to: &$0) }.hex == hex)
  }

  @Test("A row of 23 bytes has the format of records")
  func extended() throws {
    let metadata = try read(full)
    #expect(metadata.flags == .unversionedRecords)
    #expect(DataBuffer.holding { metadata.write(to: &$0) }.hex == full)
    let versioned = try read("05 00 00 00 01 02 04 03 02 01 08 07 06 05 01 00 00 00 00 4B 8D 86 0E")
    #expect(versioned.flags == [])
  }

  @Test("A new class has used row 1, and its records have versions")
  func new() {
    let metadata = ClassMetadata(classVersion: 3, classID: 4, salt: .init(5, 6))
    #expect(metadata.lastRowID == 1)
    #expect(
      DataBuffer.holding { metadata.write(to: &$0) }.hex
        == "01 00 00 00 03 04 05 00 00 00 06 00 00 00 01 00 00 00 00 5F A9 1F 09")
  }

  @Test("A last row of 0 counts as 1: row 1 is never assigned")
  func zero() throws {
    #expect(try read("00 00 00 00 01 00").lastRowID == 1)
  }

  @Test("The last row can be the last possible one")
  func highest() throws {
    #expect(try read("FF FF FF FF 01 00").lastRowID == .max)
  }

  @Test("A row of any other length is refused")
  func lengths() {
    for count in 0..<23 where count != 6 && count != 14 {
      #expect(fault(String(full.prefix(3 * count))).hasPrefix("endOfBuffer"), "\(count) bytes")
    }
    #expect(fault(full + "00") == "unreadBytes at 23")
  }

  @Test("Flags or an extension of a later version are refused, where the extension begins")
  func unknown() {
    #expect(
      fault("05 00 00 00 01 02 04 03 02 01 08 07 06 05 01 08 00 00 00 AD EE C2 F8")
        == "invalidValue at 14")
    #expect(
      fault("05 00 00 00 01 02 04 03 02 01 08 07 06 05 01 01 00 00 80 8B 1C 35 51")
        == "invalidValue at 14")
    let row = String(full.prefix(3 * 14))
    #expect(fault(row + "02 00 00 00 00") == "invalidValue at 14")
    #expect(fault(row + "00 00 00 00 00") == "invalidValue at 14")
    #expect(fault(row + "02 00 00 00 00 01 02 03") == "invalidValue at 14")
  }

  @Test("Any flipped bit of an extended row is detected")
  func checksum() {
    let bytes = DataBuffer(hex: full).bytes
    for bit in 0..<8 * bytes.count {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      var buffer = DataBuffer(flipped)
      #expect(throws: DataBufferError.self) { try ClassMetadata(from: &buffer) }
    }
  }

  private func fault(_ hex: String) -> String {
    DataBuffer.fault(in: hex) { buffer throws(DataBufferError) in
      _ = try ClassMetadata(from: &buffer)
    }
  }

  @Test("Salts differ")
  func salts() {
    #expect(Set((0..<100).map { _ in ClassMetadata.Salt.random() }).count == 100)
  }
}
