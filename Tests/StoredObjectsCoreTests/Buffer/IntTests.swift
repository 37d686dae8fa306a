import StoredObjectsCore
import Testing

@testable import StoreEngine

@Suite("Int and UInt in a buffer")
struct IntTests {
  @Test("They have the bytes of 64-bit integers, and a literal is an Int")
  func bytes() throws {
    let buffer = DataBuffer.holding {
      $0.write(5)
      $0.write(-1)
      $0.write(UInt.max)
      $0.write(1, order: .bigEndian)
    }
    #expect(
      buffer.hex == """
        05 00 00 00 00 00 00 00 FF FF FF FF FF FF FF FF \
        FF FF FF FF FF FF FF FF 00 00 00 00 00 00 00 01
        """)
  }

  @Test("Both ends of the range read back, alone and in collections")
  func extremes() throws {
    var buffer = DataBuffer.holding {
      $0.write([Int.min, 0, .max])
      $0.write(["a": UInt.max])
      $0.write(nil as Int?)
      $0.write(7 as UInt, order: .bigEndian)
    }
    #expect(try buffer.read([Int].self) == [.min, 0, .max])
    #expect(try buffer.read([String: UInt].self) == ["a": .max])
    #expect(try buffer.read(Int?.self) == nil)
    #expect(try buffer.readUInt(order: .bigEndian) == 7)
    #expect(buffer.remainingCount == 0)
  }

  @Test("A number that the machine can't hold is an error with the number")
  func narrow() throws {
    var buffer = DataBuffer.holding { $0.write(Int64(1) << 40) }
    let wide = try buffer.readInt64()
    let error = #expect(throws: DataBufferError.self) {
      try buffer.narrowed(wide, to: Int32.self)
    }
    #expect(error?.code == .invalidValue && error?.offset == 0)
    #expect(error?.message.contains("1099511627776") == true)
    #expect(try buffer.narrowed(Int64(-5), to: Int32.self) == -5)
  }

  @Test("A count of integers is compared with eight bytes each")
  func counts() {
    #expect(
      DataBuffer.fault(in: "02 00 00 00 00 00 00 00 00 00 00 00") {
        buffer throws(DataBufferError) in _ = try buffer.read([Int].self)
      } == "countBeyondEnd at 0")
  }
}
