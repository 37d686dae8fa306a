import FoundationEssentials
import StoredObjectsCore
import Testing

/// A value, and its bytes as the format's description has them.
struct Example: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let hex: String
  let write: @Sendable (inout DataBuffer) -> Void
  /// Whether the value that is read is the same one.
  let readsBack: @Sendable (inout DataBuffer) throws -> Bool

  init<Value: DataBufferValue & Equatable & Sendable>(_ value: Value, _ hex: String) {
    testDescription = "\(Value.self) \(value)"
    self.hex = hex
    write = { $0.write(value) }
    readsBack = { try $0.read(Value.self) == value }
  }
}

private let integers: [Example] = [
  Example(UInt8(0x2A), "2A"),
  Example(Int8(-2), "FE"),
  Example(UInt16(0x0102), "02 01"),
  Example(Int16(-2), "FE FF"),
  Example(UInt32(298), "2A 01 00 00"),
  Example(Int32(-2), "FE FF FF FF"),
  Example(UInt64(0x0102_0304_0506_0708), "08 07 06 05 04 03 02 01"),
  Example(Int64(-2), "FE FF FF FF FF FF FF FF"),
  Example(false, "00"),
  Example(true, "01"),
]

private let bigEndianNumbers: [Example] = [
  Example(Float(1), "3F 80 00 00"),
  Example(Float(-0.15625), "BE 20 00 00"),
  Example(Double(1), "3F F0 00 00 00 00 00 00"),
  Example(Double.pi, "40 09 21 FB 54 44 2D 18"),
  Example(Double.infinity, "7F F0 00 00 00 00 00 00"),
  Example(Date(timeIntervalSinceReferenceDate: 0), "00 00 00 00 00 00 00 00"),
  Example(Date(timeIntervalSinceReferenceDate: 1), "3F F0 00 00 00 00 00 00"),
  Example(Date(timeIntervalSince1970: 0), "C1 CD 27 E4 40 00 00 00"),
]

private let texts: [Example] = [
  Example("", "00 00 00 00"),
  Example(
    "Walking on Sunshine",
    "13 00 00 00 57 61 6C 6B 69 6E 67 20 6F 6E 20 53 75 6E 73 68 69 6E 65"),
  Example("Für Elise", "0A 00 00 00 46 C3 BC 72 20 45 6C 69 73 65"),
  Example("a\0b", "03 00 00 00 61 00 62"),
  Example("🎶", "04 00 00 00 F0 9F 8E B6"),
  Example(Data(), "00 00 00 00"),
  Example(Data([0, 255]), "02 00 00 00 00 FF"),
  Example(
    UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255)),
    "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E FF"),
]

private let compounds: [Example] = [
  Example(String?.none, "00"),
  Example(String?.some(""), "01 00 00 00 00"),
  Example(UInt16?.some(1), "01 01 00"),
  Example(UInt8??.none, "00"),
  Example(UInt8??.some(nil), "01 00"),
  Example(UInt8??.some(7), "01 01 07"),
  Example([UInt16](), "00 00 00 00"),
  Example([UInt16](arrayLiteral: 1, 2, 1), "03 00 00 00 01 00 02 00 01 00"),
  Example(["a", ""], "02 00 00 00 01 00 00 00 61 00 00 00 00"),
  Example([[UInt8]]([[7], []]), "02 00 00 00 01 00 00 00 07 00 00 00 00"),
  Example([Bool?]([true, nil]), "02 00 00 00 01 01 00"),
  Example(Set<UInt16>([513]), "01 00 00 00 01 02"),
  Example(["a": UInt16(1)], "01 00 00 00 01 00 00 00 61 01 00"),
]

@Suite("The bytes of every type")
struct ExactBytesTests {
  @Test(
    "Each value has the bytes of the format's description, and reads back",
    arguments: integers + bigEndianNumbers + texts + compounds)
  func bytes(of example: Example) throws {
    var buffer = DataBuffer.holding(example.write)
    #expect(buffer.hex == example.hex)
    #expect(try example.readsBack(&buffer))
    #expect(buffer.remainingCount == 0)
  }

  @Test("A record has neither tags nor padding between its fields")
  func record() {
    let song = DataBuffer.holding {
      $0.write(UInt8(0))
      $0.write("Walking on Sunshine")
      $0.write(UInt32(298))
    }
    let title = "57 61 6C 6B 69 6E 67 20 6F 6E 20 53 75 6E 73 68 69 6E 65"
    #expect(song.hex == "00 13 00 00 00 \(title) 2A 01 00 00")
  }
}
