import FoundationEssentials
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// A field of a made-up record: writes a random value, and copies one from buffer to buffer.
private enum Field: CaseIterable {
  case bool, byte, short, int, long, float, double, text, data, date, uuid, optional, list, nested
  case genre, label, size, set, dictionary, codable

  /// Whether one value can have several encodings.
  var isUnordered: Bool { [.set, .dictionary, .codable].contains(self) }

  /// Writes the same bytes for the same random numbers, so not by way of a set or a dictionary.
  func write(to buffer: inout DataBuffer, _ random: inout SeededGenerator) {
    let number = UInt64.random(in: 0 ... .max, using: &random)
    let count = Int.random(in: 0..<6, using: &random)
    let letter = ["a", "ü", "🎶", "\0"].randomElement(using: &random) ?? ""
    let text = String(repeating: letter, count: count)
    switch self {
    case .bool: buffer.write(number.isMultiple(of: 2))
    case .byte: buffer.write(Int8(truncatingIfNeeded: number))
    case .short: buffer.write(UInt16(truncatingIfNeeded: number), order: .bigEndian)
    case .int: buffer.write(UInt32(truncatingIfNeeded: number))
    case .long: buffer.write(number)
    case .float: buffer.write(Float(bitPattern: UInt32(truncatingIfNeeded: number)))
    case .double: buffer.write(Double(bitPattern: number))
    case .text: buffer.write(text)
    case .data: buffer.write(Data(text.utf8))
    case .date: buffer.write(Date(timeIntervalSinceReferenceDate: Double(number)))
    case .uuid: for part in [number, ~number] { buffer.write(part) }
    case .optional: buffer.write(number.isMultiple(of: 2) ? text : nil)
    case .list: buffer.write(Array(repeating: text, count: count))
    case .nested: buffer.write([[UInt16(count)], [], nil, [1, 2]])
    case .genre: buffer.write(Genre.folk)
    case .label: buffer.write(Label.blueNote)
    case .size: buffer.write([Size(UInt32(count), 7)])
    case .set: buffer.write((0..<UInt32(count)).map { $0 * 3 })
    case .dictionary:
      buffer.write(UInt32(2))
      for key in [text, "b"] {
        buffer.write(key)
        buffer.write(UInt8(count))
      }
    case .codable: buffer.write(codable: [text: [number, 0]])
    }
  }

  func copy(
    from source: inout DataBuffer, to target: inout DataBuffer
  ) throws(DataBufferError) {
    switch self {
    case .bool: target.write(try source.readBool())
    case .byte: target.write(try source.readInt8())
    case .short: target.write(try source.readUInt16(order: .bigEndian), order: .bigEndian)
    case .int: target.write(try source.readUInt32())
    case .long: target.write(try source.readUInt64())
    case .float: target.write(try source.readFloat())
    case .double: target.write(try source.readDouble())
    case .text: target.write(try source.readString())
    case .data: target.write(try source.readData())
    case .date: target.write(try source.readDate())
    case .uuid: target.write(try source.readUUID())
    case .optional: target.write(try source.read(String?.self))
    case .list: target.write(try source.read([String].self))
    case .nested: target.write(try source.read([[UInt16]?].self))
    case .genre: target.write(try source.read(Genre.self))
    case .label: target.write(try source.read(Label.self))
    case .size: target.write(try source.read([Size].self))
    case .set: target.write(try source.read(Set<UInt32>.self))
    case .dictionary: target.write(try source.read([String: UInt8].self))
    case .codable: target.write(codable: try source.readCodable([String: [UInt64]].self))
    }
  }
}

extension [UInt8] {
  /// Changes a few bytes, or cuts some off.
  fileprivate mutating func mutate(_ random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...3, using: &random) where !isEmpty {
      let index = Int.random(in: 0..<count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: self[index] = .random(in: 0...255, using: &random)
      case 1: self[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: self[index] = [0, 1, 127, 128, 255].randomElement(using: &random) ?? 0
      default: removeSubrange(index...)
      }
    }
  }
}

@Suite("Changed bytes")
struct MutatedBytesTests {
  @Test("After any change of the bytes, reading throws a DataBufferError or gives a value")
  func mutations() throws {
    var random = Seeds.generator(for: "mutated buffers")
    var (readable, refused) = (0, 0)
    for _ in 0..<3000 {
      let fields = (0..<4).compactMap { _ in Field.allCases.randomElement(using: &random) }
      var valid = DataBuffer()
      for field in fields { field.write(to: &valid, &random) }
      try expectFaithful(fields, valid.bytes)
      var bytes = valid.bytes
      bytes.mutate(&random)
      do {
        try expectFaithful(fields, bytes)
        readable += 1
      } catch let error as DataBufferError {
        #expect((0...bytes.count).contains(error.offset), "\(error)")
        refused += 1
      }
    }
    // Both happen often enough to mean something.
    #expect(readable > 100)
    #expect(refused > 100)
  }

  /// Reads the fields, and expects that writing them again gives the bytes that were read.
  private func expectFaithful(_ fields: [Field], _ bytes: [UInt8]) throws {
    var (source, target) = (DataBuffer(bytes), DataBuffer())
    for field in fields { try field.copy(from: &source, to: &target) }
    #expect(target.failure == nil)
    if fields.contains(where: \.isUnordered) { return }
    #expect(target.bytes.elementsEqual(bytes.prefix(source.offset)), "\(fields)")
  }
}
