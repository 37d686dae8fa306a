import FoundationEssentials
import StoredObjectsCore
import Testing

/// One way to read a buffer, and the fewest bytes it needs.
struct Reading: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let byteCount: Int
  let read: @Sendable (inout DataBuffer) throws(DataBufferError) -> Void

  init(
    _ name: String, _ byteCount: Int,
    _ read: @escaping @Sendable (inout DataBuffer) throws(DataBufferError) -> Void
  ) {
    testDescription = name
    self.byteCount = byteCount
    self.read = read
  }

  init<Value: DataBufferValue & SendableMetatype>(_ type: Value.Type) {
    self.init("\(type)", Value.minimumByteCount) { buffer throws(DataBufferError) in
      _ = try buffer.read(Value.self)
    }
  }
}

private let scalars: [Reading] = [
  Reading(UInt8.self), Reading(UInt16.self), Reading(UInt32.self), Reading(UInt64.self),
  Reading(Int8.self), Reading(Int16.self), Reading(Int32.self), Reading(Int64.self),
  Reading(Bool.self), Reading(Float.self), Reading(Double.self), Reading(Date.self),
  Reading(UUID.self), Reading(Genre.self), Reading(Size.self),
  Reading("readUInt8", 1) { b throws(DataBufferError) in _ = try b.readUInt8() },
  Reading("readUInt16", 2) { b throws(DataBufferError) in _ = try b.readUInt16() },
  Reading("readUInt32", 4) { b throws(DataBufferError) in _ = try b.readUInt32() },
  Reading("readUInt64", 8) { b throws(DataBufferError) in _ = try b.readUInt64() },
  Reading("readInt8", 1) { b throws(DataBufferError) in _ = try b.readInt8() },
  Reading("readInt16", 2) { b throws(DataBufferError) in _ = try b.readInt16() },
  Reading("readInt32", 4) { b throws(DataBufferError) in _ = try b.readInt32() },
  Reading("readInt64", 8) { b throws(DataBufferError) in _ = try b.readInt64() },
  Reading("readFloat", 4) { b throws(DataBufferError) in _ = try b.readFloat() },
  Reading("readDouble", 8) { b throws(DataBufferError) in _ = try b.readDouble() },
]

private let counted: [Reading] = [
  Reading(String.self), Reading(Data.self), Reading([UInt8].self), Reading(Label.self),
  Reading([String].self), Reading([String: UInt8].self), Reading(Set<UInt8>.self),
  Reading([[UInt8]].self), Reading([Bool?].self),
  Reading("readBytes", 4) { b throws(DataBufferError) in _ = try b.readBytes() },
  Reading("readCodable", 4) { b throws(DataBufferError) in _ = try b.readCodable(Int.self) },
]

@Suite("Truncated and inflated bytes")
struct HostileBytesTests {
  @Test("A value that is truncated anywhere throws, at its first byte", arguments: scalars)
  func truncated(reading: Reading) throws {
    for count in 0..<reading.byteCount {
      let hex = "FF " + String(repeating: "01 ", count: count)
      let fault = DataBuffer.fault(in: hex) { buffer throws(DataBufferError) in
        try buffer.skip(1)
        try reading.read(&buffer)
      }
      // A type of several parts names the part.
      let offset = reading.testDescription == "Size" && count >= 4 ? 5 : 1
      #expect(fault == "endOfBuffer at \(offset)", "\(count) bytes")
    }
    let whole = String(repeating: "01", count: reading.byteCount)
    #expect(DataBuffer.fault(in: whole, reading.read) == "nothing")
  }

  @Test("A count that is truncated throws, at its first byte", arguments: counted)
  func truncatedCount(reading: Reading) {
    #expect(reading.byteCount == 4)
    for count in 0..<4 {
      let hex = String(repeating: "00", count: count)
      #expect(DataBuffer.fault(in: hex, reading.read) == "endOfBuffer at 0")
    }
  }

  @Test(
    "A count larger than the bytes left throws before anything is allocated",
    arguments: counted, ["FF FF FF FF", "00 00 00 80", "05 00 00 00"])
  func countBeyondEnd(reading: Reading, count: String) {
    let fault = DataBuffer.fault(in: "FF \(count) 00 00 00 00") { buffer throws(DataBufferError) in
      try buffer.skip(1)
      try reading.read(&buffer)
    }
    #expect(fault == "countBeyondEnd at 1")
  }

  @Test(
    "A count is compared with the minimum size of the elements, not with one byte each",
    arguments: [
      Reading("UInt64", 8) { b throws(DataBufferError) in _ = try b.read([UInt64].self) },
      Reading("Set", 2) { b throws(DataBufferError) in _ = try b.read(Set<Int16>.self) },
      Reading("UUID", 16) { b throws(DataBufferError) in _ = try b.read([UUID].self) },
      Reading("Date", 8) { b throws(DataBufferError) in _ = try b.read([Date].self) },
      Reading("Float", 4) { b throws(DataBufferError) in _ = try b.read([Float].self) },
      Reading("Double", 8) { b throws(DataBufferError) in _ = try b.read([Double].self) },
      Reading("String", 4) { b throws(DataBufferError) in _ = try b.read([String].self) },
      Reading("Data", 4) { b throws(DataBufferError) in _ = try b.read([Data].self) },
      Reading("array", 4) { b throws(DataBufferError) in _ = try b.read([[UInt8]].self) },
      Reading("set", 4) { b throws(DataBufferError) in _ = try b.read([Set<UInt8>].self) },
      Reading("dictionary", 4) { b throws(DataBufferError) in _ = try b.read([[Bool: Bool]].self) },
      Reading("pair", 12) { b throws(DataBufferError) in _ = try b.read([String: Int64].self) },
    ])
  func elementSize(reading: Reading) {
    let rest = String(repeating: "00", count: 2 * reading.byteCount - 1)
    #expect(DataBuffer.fault(in: "02 00 00 00" + rest, reading.read) == "countBeyondEnd at 0")
  }
}
