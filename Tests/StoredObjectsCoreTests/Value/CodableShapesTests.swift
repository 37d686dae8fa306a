import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// A list of one element each, as an enum that holds itself.
indirect enum Chain: Codable {
  case end
  case next(Chain)

  init(length: Int) {
    self = .end
    for _ in 0..<length { self = .next(self) }
  }

  var length: Int {
    var (count, link) = (0, self)
    while case .next(let next) = link { (count, link) = (count + 1, next) }
    return count
  }
}

@Suite("Codable values of all shapes")
struct CodableShapesTests {
  private func readBack<Value: Codable>(_ value: Value) throws -> Value {
    var buffer = DataBuffer.holding { $0.write(codable: value) }
    let value = try buffer.readCodable(Value.self)
    #expect(buffer.remainingCount == 0)
    return value
  }

  @Test("A random value reads back bit by bit")
  func random() throws {
    var generator = Seeds.generator(for: "Codable values of every shape")
    for _ in 0..<3000 {
      let shape = Shape.random(5, using: &generator)
      #expect(try readBack(shape).exact == shape.exact)
    }
  }

  @Test("Any text reads back, also those that property lists use")
  func texts() throws {
    for text in ["$null", "", "$", "$nul", "null", "é", "e\u{301}"] {
      #expect(try Array(readBack(text).utf8) == Array(text.utf8))
      #expect(try readBack(String?.some(text)).map { Array($0.utf8) } == Array(text.utf8))
      #expect(try readBack([text: text])[text] == text)
    }
    let both = try readBack(["é", "e\u{301}", "é"])
    #expect(both.map { Array($0.utf8) } == ["é", "e\u{301}", "é"].map { Array($0.utf8) })
  }

  @Test("Floating-point numbers keep each bit, and stay distinct in one value")
  func floatingPoint() throws {
    let patterns: [UInt64] = [0, 1 << 63, 0x7FF8_0000_0000_0001, 0x7FF0_0000_0000_0001, .max]
    let doubles = try readBack(patterns.map(Double.init(bitPattern:)))
    #expect(doubles.map(\.bitPattern) == patterns)
    let small: [UInt32] = [0, 1 << 31, 0x7FC0_0001, 0x7F80_0001, 0xFFC0_BEEF, .max]
    #expect(try readBack(small.map(Float.init(bitPattern:))).map(\.bitPattern) == small)
  }

  @Test("A value nested too deep to be read again is refused when it is written")
  func depth() throws {
    for length in [100, 127] { #expect(try readBack(Chain(length: length)).length == length) }
    for length in [128, 129, 1000] {
      var buffer = DataBuffer()
      buffer.write(codable: Chain(length: length))
      #expect(buffer.failure?.code == .notEncodable)
      #expect(buffer.failure?.message.contains("nested more than 256 deep") == true)
    }
  }

  private struct Tree: Codable { var children: [Tree?] = [] }

  @Test("Written values can be read, at every depth around the limit")
  func depthOfOptionals() throws {
    var (tree, accepted) = (Tree(), 0)
    for depth in 0..<300 {
      var buffer = DataBuffer()
      buffer.write(codable: tree)
      if buffer.failure == nil {
        var reader = DataBuffer(buffer.bytes)
        _ = try reader.readCodable(Tree.self)
        accepted = depth
      }
      tree = Tree(children: [tree])
    }
    #expect(accepted == 127)
  }

  /// Encodes itself as what it holds, which takes no level.
  private indirect enum Wrapped: Codable {
    case end
    case inner(Wrapped)
    init(from decoder: any Decoder) throws {
      self = .inner(try decoder.singleValueContainer().decode(Wrapped.self))
    }
    init(levels: Int) {
      self = .end
      for _ in 0..<levels { self = .inner(self) }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .end: try container.encodeNil()
      case .inner(let inner): try container.encode(inner)
      }
    }
  }

  @Test("Types that encode as others end with an error, also if they never end")
  func wrapped() {
    var buffer = DataBuffer()
    buffer.write(codable: Wrapped(levels: 2000))
    #expect(buffer.failure?.code == .notEncodable)
    var endless = DataBuffer.holding { $0.write(codable: Wrapped(levels: 1)) }
    let error = #expect(throws: DataBufferError.self) { try endless.readCodable(Wrapped.self) }
    #expect(error?.code == .invalidValue)
  }

  /// Nests containers only, none of whose calls can throw.
  private struct Silent: Encodable {
    let levels: Int
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      for _ in 0..<levels {
        var inner = container.nestedUnkeyedContainer()
        swap(&inner, &container)
      }
    }
  }

  @Test("Containers nested too deep without any value are refused")
  func containers() {
    var buffer = DataBuffer()
    buffer.write(codable: Silent(levels: 100))
    #expect(buffer.failure == nil)
    buffer.write(codable: Silent(levels: 20_000))
    #expect(buffer.failure?.code == .notEncodable)
  }

  @Test("The bytes are those of the page on the format")
  func exactBytes() {
    struct Size: Codable { var width = 2.5, unit = "in", count: Int32? = nil }
    let buffer = DataBuffer.holding { $0.write(codable: Size()) }
    let hex = buffer.bytes.map { String(format: "%02X", $0) }.joined(separator: " ")
    #expect(
      hex == """
        1A 00 00 00 0A 02 04 75 6E 69 74 06 02 69 6E \
        05 77 69 64 74 68 05 00 00 00 00 00 00 04 40
        """)
  }

  @Test("Damage to a value is an error, whatever the bytes")
  func hostile() {
    var generator = Seeds.generator(for: "damaged Codable values")
    for _ in 0..<5000 {
      let shape = Shape.random(3, using: &generator)
      var bytes = DataBuffer.holding { $0.write(codable: shape) }.bytes
      for _ in 0...2 {
        bytes[.random(in: 4..<bytes.count, using: &generator)] = .random(in: 0 ... .max)
      }
      var buffer = DataBuffer(bytes)
      _ = try? buffer.readCodable(Shape.self)
    }
  }
}
