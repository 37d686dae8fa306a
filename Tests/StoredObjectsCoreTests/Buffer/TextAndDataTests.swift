import FoundationEssentials
import StoredObjectsCore
import Testing

@Suite("Strings, data, dates and UUIDs in a buffer")
struct TextAndDataTests {
  @Test(
    "A string reads back scalar by scalar, without any normalization",
    arguments: [
      "", "a", "a\0b", "\0", "Für Elise", "Fu\u{308}r Elise", "🎶", "👩‍👩‍👧‍👦", "\u{FEFF}bom",
      "\u{10FFFF}", "\u{D7FF}\u{E000}", "line\r\nline",
    ])
  func strings(text: String) throws {
    var buffer = DataBuffer.holding { $0.write(text) }
    #expect(buffer.remainingCount == 4 + text.utf8.count)
    #expect(Array(try buffer.readString().unicodeScalars) == Array(text.unicodeScalars))
    #expect(buffer.remainingCount == 0)
  }

  @Test("A string of 1 MiB reads back")
  func longString() throws {
    let text = String(repeating: "0123456789abcde\n", count: 1 << 16)
    var buffer = DataBuffer.holding { $0.write(text) }
    #expect(buffer.remainingCount == 4 + 1 << 20)
    #expect(try buffer.readString() == text)
  }

  @Test("A substring made a string is written as any other")
  func substring() throws {
    let text = String("Walking on Sunshine".dropFirst(11))
    #expect(DataBuffer.holding { $0.write(text) }.hex == "08 00 00 00 53 75 6E 73 68 69 6E 65")
  }

  @Test("Data, and an array of bytes, have the same bytes, and read as either")
  func data() throws {
    let bytes = (0...255).map { UInt8($0) }
    let buffer = DataBuffer.holding { $0.write(Data(bytes)) }
    #expect(buffer.bytes == [0, 1, 0, 0] + bytes)
    #expect(DataBuffer.holding { $0.write(bytes) }.bytes == buffer.bytes)
    var (first, second, third) = (buffer, buffer, buffer)
    #expect(try first.readData() == Data(bytes))
    #expect(try second.readBytes() == bytes)
    #expect(try third.read([UInt8].self) == bytes)
  }

  @Test("A slice of data that does not begin at 0 is written as its bytes")
  func slice() throws {
    let slice = Data([1, 2, 3, 4])[2...]
    #expect(DataBuffer.holding { $0.write(slice) }.hex == "02 00 00 00 03 04")
  }

  @Test("Empty data and an empty string are values, not nil")
  func emptyIsNotNil() throws {
    var buffer = DataBuffer.holding {
      $0.write(String?.some(""))
      $0.write(String?.none)
      $0.write(Data?.some(Data()))
      $0.write(Data?.none)
    }
    #expect(try buffer.read(String?.self) == .some(""))
    #expect(try buffer.read(String?.self) == .none)
    #expect(try buffer.read(Data?.self) == .some(Data()))
    #expect(try buffer.read(Data?.self) == .none)
  }

  @Test("The first instant of 2001 is a date, not nil")
  func firstInstant() throws {
    let instant = Date(timeIntervalSinceReferenceDate: 0)
    var buffer = DataBuffer.holding { $0.write(Date?.some(instant)) }
    #expect(buffer.hex == "01 00 00 00 00 00 00 00 00")
    #expect(try buffer.read(Date?.self) == instant)
    var old = DataBuffer(hex: "00 00 00 00 00 00 00 00")
    #expect(try old.readDate() == instant)
  }

  @Test(
    "A date reads back to the last bit",
    arguments: [
      Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 0.1),
      Date(timeIntervalSinceReferenceDate: 785_000_000.123456),
    ])
  func dates(date: Date) throws {
    var buffer = DataBuffer.holding { $0.write(date) }
    #expect(try buffer.readDate() == date)
  }

  @Test("A UUID reads back from the middle of a buffer")
  func uuid() throws {
    let uuid = UUID()
    var buffer = DataBuffer.holding {
      $0.write("in front")
      $0.write(uuid)
      $0.write(UInt8(7))
    }
    #expect(try buffer.readString() == "in front")
    #expect(try buffer.readUUID() == uuid)
    #expect(try buffer.readUInt8() == 7)
  }
}
