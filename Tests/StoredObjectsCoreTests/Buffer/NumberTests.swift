import StoredObjectsCore
import Testing

@Suite("Numbers in a buffer")
struct NumberTests {
  @Test("An integer of any width reads back at both ends of its range, in either order")
  func extremes() throws {
    try expectRoundTrip(UInt8.self) { buffer, _ in try buffer.readUInt8() }
    try expectRoundTrip(UInt16.self) { try $0.readUInt16(order: $1) }
    try expectRoundTrip(UInt32.self) { try $0.readUInt32(order: $1) }
    try expectRoundTrip(UInt64.self) { try $0.readUInt64(order: $1) }
    try expectRoundTrip(Int8.self) { buffer, _ in try buffer.readInt8() }
    try expectRoundTrip(Int16.self) { try $0.readInt16(order: $1) }
    try expectRoundTrip(Int32.self) { try $0.readInt32(order: $1) }
    try expectRoundTrip(Int64.self) { try $0.readInt64(order: $1) }
  }

  private func expectRoundTrip<Integer: FixedWidthInteger & DataBufferValue>(
    _ type: Integer.Type, _ read: (inout DataBuffer, ByteOrder) throws -> Integer
  ) throws {
    let values: [Integer] = [.min, .min + 1, 0, 1, .max / 3, .max - 1, .max]
    for order in [ByteOrder.littleEndian, .bigEndian] {
      for value in values {
        var buffer = DataBuffer.holding { $0.write(value, order: order) }
        #expect(buffer.remainingCount == Integer.bitWidth / 8)
        #expect(try read(&buffer, order) == value, "\(type) \(value) \(order)")
        #expect(buffer.remainingCount == 0)
      }
    }
  }

  @Test("An integer has the requested byte order")
  func integerOrder() throws {
    let big = DataBuffer.holding {
      $0.write(UInt16(0x0102), order: .bigEndian)
      $0.write(UInt32(0x0304_0506), order: .bigEndian)
      $0.write(Int64(-2), order: .bigEndian)
      $0.write(UInt16(0x0102), order: .littleEndian)
    }
    #expect(big.hex == "01 02 03 04 05 06 FF FF FF FF FF FF FF FE 02 01")
    var bytes = DataBuffer(hex: "01 02 01 02")
    #expect(try bytes.readUInt16(order: .bigEndian) == 0x0102)
    #expect(try bytes.readUInt16() == 0x0201)
  }

  @Test("Floating-point numbers are big-endian unless little-endian is requested")
  func floatingPointOrder() throws {
    let buffer = DataBuffer.holding {
      $0.write(Float(1), order: .littleEndian)
      $0.write(Double(1), order: .littleEndian)
      $0.write(Float(1), order: .bigEndian)
      $0.write(Double(1))
    }
    #expect(buffer.hex == "00 00 80 3F 00 00 00 00 00 00 F0 3F 3F 80 00 00 3F F0 00 00 00 00 00 00")
    var reader = buffer
    #expect(try reader.readFloat(order: .littleEndian) == 1)
    #expect(try reader.readDouble(order: .littleEndian) == 1)
    #expect(try reader.readFloat() == 1)
    #expect(try reader.readDouble() == 1)
  }

  @Test(
    "A Double keeps every bit: the sign of zero, infinities, the payload of a NaN",
    arguments: [
      Double.zero, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      .nan, Double(bitPattern: 0x7FF8_0000_DEAD_BEEF), Double(bitPattern: 0xFFF4_0000_0000_0001),
    ])
  func doubleBits(value: Double) throws {
    var buffer = DataBuffer.holding { $0.write(value) }
    #expect(try buffer.readDouble().bitPattern == value.bitPattern)
  }

  @Test(
    "A Float keeps every bit: the sign of zero, infinities, the payload of a NaN",
    arguments: [
      Float.zero, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      .nan, Float(bitPattern: 0x7FC0_BEEF), Float(bitPattern: 0xFFA0_0001),
    ])
  func floatBits(value: Float) throws {
    var buffer = DataBuffer.holding { $0.write(value) }
    #expect(try buffer.readFloat().bitPattern == value.bitPattern)
  }

  @Test("A Bool is a byte 0 or 1, and no other byte is valid", arguments: UInt8.min...UInt8.max)
  func bool(byte: UInt8) throws {
    var buffer = DataBuffer([9, byte])
    try buffer.skip(1)
    if byte <= 1 {
      #expect(try buffer.readBool() == (byte == 1))
    } else {
      let error = #expect(throws: DataBufferError.self) { try buffer.readBool() }
      #expect(error?.code == .invalidValue)
      #expect(error?.offset == 1)
    }
  }
}
