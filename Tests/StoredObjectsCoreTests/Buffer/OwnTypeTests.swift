import StoredObjectsCore
import Testing

enum Genre: UInt8, CaseIterable, DataBufferValue {
  case jazz = 1
  case folk
  case opera = 200
}

enum Label: String, CaseIterable, DataBufferValue {
  case none = ""
  case blueNote = "Blue Note"
}

struct Size: DataBufferValue, Hashable {
  var width, height: UInt32
  static var minimumByteCount: Int { 8 }

  init(_ width: UInt32, _ height: UInt32) { (self.width, self.height) = (width, height) }

  init(from buffer: inout DataBuffer) throws(DataBufferError) {
    width = try buffer.readUInt32()
    height = try buffer.readUInt32(order: .bigEndian)
  }

  func write(to buffer: inout DataBuffer) {
    buffer.write(width)
    buffer.write(height, order: .bigEndian)
  }
}

@Suite("Custom types in a buffer")
struct OwnTypeTests {
  @Test("An enum is its raw value", arguments: Genre.allCases)
  func numbers(genre: Genre) throws {
    var buffer = DataBuffer.holding { $0.write(genre) }
    #expect(buffer.bytes == [genre.rawValue])
    #expect(try buffer.read(Genre.self) == genre)
  }

  @Test("An enum of strings is its raw value", arguments: Label.allCases)
  func strings(label: Label) throws {
    var buffer = DataBuffer.holding { $0.write(label) }
    #expect(buffer.bytes == DataBuffer.holding { $0.write(label.rawValue) }.bytes)
    #expect(try buffer.read() == label)
  }

  @Test("A raw value without a case is invalid, where it begins")
  func noCase() {
    let number = DataBuffer.fault(in: "01 04") { buffer throws(DataBufferError) in
      _ = try buffer.read(Genre.self)
      _ = try buffer.read(Genre.self)
    }
    #expect(number == "invalidValue at 1")
    let text = DataBuffer.fault(in: "FF 01 00 00 00 41") { buffer throws(DataBufferError) in
      try buffer.skip(1)
      _ = try buffer.read(Label.self)
    }
    #expect(text == "invalidValue at 1")
  }

  @Test("A structure writes and reads its parts, alone and in collections")
  func structures() throws {
    var buffer = DataBuffer.holding {
      $0.write(Size(1, 2))
      $0.write([Size(3, 4)])
      $0.write([Size(5, 6): Genre.opera])
      $0.write(Size?.none)
    }
    #expect(
      buffer.hex == """
        01 00 00 00 00 00 00 02 \
        01 00 00 00 03 00 00 00 00 00 00 04 \
        01 00 00 00 05 00 00 00 00 00 00 06 C8 \
        00
        """)
    #expect(try buffer.read(Size.self) == Size(1, 2))
    #expect(try buffer.read([Size].self) == [Size(3, 4)])
    #expect(try buffer.read([Size: Genre].self) == [Size(5, 6): .opera])
    #expect(try buffer.read(Size?.self) == nil)
  }

  @Test("The minimum size of a custom type limits the count of a collection of it")
  func minimum() {
    let sizes = DataBuffer.fault(in: "02 00 00 00" + String(repeating: " 00", count: 15)) {
      buffer throws(DataBufferError) in
      _ = try buffer.read([Size].self)
    }
    #expect(sizes == "countBeyondEnd at 0")
    let labels = DataBuffer.fault(in: "02 00 00 00" + String(repeating: " 00", count: 7)) {
      buffer throws(DataBufferError) in
      _ = try buffer.read([Label].self)
    }
    #expect(labels == "countBeyondEnd at 0")
  }
}
