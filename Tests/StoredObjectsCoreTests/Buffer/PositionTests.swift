import StoredObjectsTestSupport
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

@Suite("The reading position of a buffer")
struct PositionTests {
  @Test("Reading continues from value to value, and the counts have the progress")
  func counts() throws {
    var buffer = DataBuffer(hex: "01 02 00 03 00 00 00 61 62 63 09")
    #expect(buffer.offset == 0)
    #expect(buffer.remainingCount == 11)
    #expect(try buffer.readUInt8() == 1)
    #expect(try buffer.readUInt16() == 2)
    #expect(buffer.offset == 3)
    #expect(try buffer.readString() == "abc")
    #expect(buffer.offset == 10)
    #expect(buffer.remainingCount == 1)
    #expect(buffer.bytes.count == 11)
  }

  @Test("Skipping passes over any number of bytes, but not over the end")
  func skipping() throws {
    var buffer = DataBuffer([1, 2, 3, 4])
    try buffer.skip(0)
    try buffer.skip(2)
    #expect(try buffer.readUInt8() == 3)
    for count in [2, Int.max] {
      let error = #expect(throws: DataBufferError.self) { try buffer.skip(count) }
      #expect(error?.code == .endOfBuffer)
      #expect(error?.offset == 3)
    }
    try buffer.skip(1)
    #expect(buffer.remainingCount == 0)
  }

  @Test("skipRemaining passes over all remaining bytes, also twice")
  func skippingAll() throws {
    var buffer = DataBuffer([1, 2, 3])
    _ = try buffer.readUInt8()
    buffer.skipRemaining()
    buffer.skipRemaining()
    #expect(buffer.remainingCount == 0)
    #expect(buffer.offset == 3)
  }

  @Test("A buffer that is not a record has version 0")
  func version() {
    #expect(DataBuffer().version == 0)
    #expect(DataBuffer([5]).version == 0)
  }

  @Test("A buffer of bytes appends at its end, and does not change a copy")
  func appending() {
    let original = DataBuffer([1])
    var copy = original
    copy.write(UInt8(2))
    #expect(copy.bytes == [1, 2])
    #expect(original.bytes == [1])
  }

  @Test("An error's description has its code, its offset and its message")
  func description() {
    let error = DataBufferError(.invalidValue, at: 7, "no such case")
    #expect("\(error)" == "invalidValue at offset 7: no such case")
  }

  @Test("A window on a record sees nothing outside of it, and counts from its beginning")
  func window() throws {
    var buffer = DataBuffer()
    buffer.window(2..<5, of: [9, 9, 1, 2, 3, 9])
    #expect(buffer.remainingCount == 3)
    #expect(try buffer.readUInt8() == 1)
    #expect(buffer.offset == 1)
    let error = #expect(throws: DataBufferError.self) { try buffer.readUInt32() }
    #expect(error?.code == .endOfBuffer)
    #expect(error?.offset == 1)
    buffer.skipRemaining()
    #expect(buffer.offset == 3)
  }

  @Test("A refilled buffer has none of its former bytes, position, version and failure")
  func refilling() throws {
    var buffer = DataBuffer([1, 2, 3])
    _ = try buffer.readUInt16()
    buffer.version = 4
    buffer.write(Song?.some(Song("x", 1)))
    #expect(buffer.failure != nil)
    let backend = try MemoryBackend()
    let table = try backend.table(named: "Song")
    try backend.commit { $0.insert(2, in: table, [7, 8]) }
    #expect(try buffer.fill(from: backend, 2, in: table))
    #expect(buffer.bytes == [7, 8])
    #expect(buffer.offset == 0)
    #expect(buffer.version == 0)
    #expect(buffer.failure == nil)
    #expect(try buffer.readUInt16() == 0x0807)
  }
}
