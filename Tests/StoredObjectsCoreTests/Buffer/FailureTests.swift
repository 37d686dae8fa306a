import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

@Suite("Values that can't be written")
struct FailureTests {
  @Test("A buffer without errors has no failure")
  func none() {
    var buffer = DataBuffer()
    buffer.write(["a": [UInt8?.none, 1]])
    buffer.write(Song?.none)
    buffer.writeAny(StoredObject?.none)
    buffer.write([Song]())
    #expect(buffer.failure == nil)
  }

  @Test("A reference in a buffer without a store is recorded with its offset")
  func reference() {
    var buffer = DataBuffer()
    buffer.write(UInt32(0))
    buffer.write(Song("a", 1))
    #expect(buffer.failure?.code == .noStore)
    #expect(buffer.failure?.offset == 4)
    var any = DataBuffer()
    any.writeAny(Song("a", 1))
    #expect(any.failure?.code == .noStore)
  }

  @Test("Of several failures the first one is recorded")
  func firstFailure() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Song.self)
    let deleted = Song("deleted", 1)
    store.insert(deleted)
    try store.saveChanges()
    store.delete(deleted)
    var buffer = DataBuffer([], store: store)
    buffer.write("abc")
    buffer.write(deleted)
    buffer.write(Song("never inserted", 2))
    buffer.writeCount(1 << 32)
    #expect(buffer.failure?.code == .notInserted)
    #expect(buffer.failure?.offset == 7)
    #expect(buffer.failure?.message.contains("deleted") == true)
  }

  @Test("A count above 32 bits is too long; the largest 32-bit count is not")
  func tooLong() {
    var buffer = DataBuffer()
    buffer.writeCount(Int(UInt32.max))
    #expect(buffer.failure == nil)
    #expect(buffer.hex == "FF FF FF FF")
    buffer.writeCount(Int(UInt32.max) + 1)
    #expect(buffer.failure?.code == .tooLong)
    #expect(buffer.failure?.offset == 4)
  }

  @Test("A reference under a wider static type than the object's class is refused")
  func wrongClass() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Song.self)
    let song = Song("a", 1)
    store.insert(song)
    var buffer = DataBuffer([], store: store)
    buffer.write(song as StoredObject)
    #expect(buffer.failure?.code == .wrongClass)
  }

  @Test("Reading a reference needs a store")
  func reading() {
    let zeros = "00 00 00 00 00"
    let one = DataBuffer.fault(in: zeros) { buffer throws(DataBufferError) in
      _ = try buffer.readObject(of: Song.self)
    }
    let many = DataBuffer.fault(in: zeros) { buffer throws(DataBufferError) in
      _ = try buffer.readObjects(of: Song.self)
    }
    let any = DataBuffer.fault(in: zeros) { buffer throws(DataBufferError) in
      _ = try buffer.readAnyObject()
    }
    #expect(one == "noStore at 0")
    #expect(many == "noStore at 0")
    #expect(any.hasPrefix("noStore"))
  }

  @Test("Reference counts are compared with the remaining bytes")
  func referenceCounts() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Song.self)
    var many = DataBuffer([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], store: store)
    let error = #expect(throws: DataBufferError.self) { try many.readObjects(of: Song.self) }
    #expect(error?.code == .countBeyondEnd)
    var any = DataBuffer([2, 0, 0, 0] + Array(repeating: 0, count: 9), store: store)
    let anyError = #expect(throws: DataBufferError.self) { try any.readAnyObjects() }
    #expect(anyError?.code == .countBeyondEnd)
    #expect(anyError?.offset == 0)
  }
}
