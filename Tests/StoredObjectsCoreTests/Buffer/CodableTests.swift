import FoundationEssentials
import StoredObjectsCore
import Testing

struct Settings: Codable, Equatable {
  enum Theme: Codable, Equatable {
    case dark
    case light(brightness: Double)
  }
  var theme: Theme
  var opened: Date?
  var recent: [String]
  var limits: [String: UInt64]
}

@Suite("Codable values in a buffer")
struct CodableTests {
  @Test("Any Codable value reads back")
  func roundTrips() throws {
    let date = Date(timeIntervalSinceReferenceDate: 785_000_000.5)
    try expectRoundTrip(
      Settings(
        theme: .light(brightness: 0.5), opened: date, recent: ["Für Elise", ""],
        limits: ["most": .max, "least": 0]))
    try expectRoundTrip(Settings(theme: .dark, opened: nil, recent: [], limits: [:]))
    try expectRoundTrip(Settings.Theme.dark)
    try expectRoundTrip(Int.min)
    try expectRoundTrip(UInt64.max)
    try expectRoundTrip("")
    try expectRoundTrip("a\0b")
    try expectRoundTrip([[1, 2], []])
    try expectRoundTrip(date)
    try expectRoundTrip(true)
    try expectRoundTrip(-0.5)
    try expectRoundTrip(Data([0, 1]))
  }

  @Test("nil is a Codable value different from any other")
  func missing() throws {
    try expectRoundTrip(Int?.none)
    try expectRoundTrip(Int?.some(0))
    try expectRoundTrip(["a", nil, ""] as [String?])
  }

  private func expectRoundTrip<Value: Codable & Equatable>(_ value: Value) throws {
    var writer = DataBuffer()
    writer.write(codable: value)
    writer.write(UInt8(7))
    #expect(writer.failure == nil)
    var buffer = DataBuffer(writer.bytes)
    #expect(try buffer.readCodable(Value.self) == value)
    #expect(try buffer.readUInt8() == 7)
  }

  @Test("A Codable value is framed as data")
  func framing() throws {
    var buffer = DataBuffer.holding { $0.write(codable: 5) }
    #expect(try buffer.readBytes() == [3, 10])
    #expect(buffer.remainingCount == 0)
  }

  @Test(
    "Bytes of no such value are invalid, where they begin",
    arguments: [
      [], [0], Array("bplist00".utf8), Array("not a list".utf8), Array(repeating: 255, count: 64),
      Array("<plist><array><integer>1</integer></array></plist>".utf8), Array("(1)".utf8),
    ] as [[UInt8]])
  func garbage(bytes: [UInt8]) {
    var buffer = DataBuffer.holding {
      $0.write(true)
      $0.write(bytes)
    }
    let error = #expect(throws: DataBufferError.self) {
      _ = try buffer.readBool()
      _ = try buffer.readCodable(Int.self)
    }
    #expect(error?.code == .invalidValue)
    #expect(error?.offset == 1)
  }

  @Test("A property list nested deeper than any stack is invalid, and does not crash")
  func deeplyNested() {
    let text = "<plist>" + String(repeating: "<array>", count: 500_000)
    var buffer = DataBuffer.holding { $0.write(Data(text.utf8)) }
    let error = #expect(throws: DataBufferError.self) { _ = try buffer.readCodable([Int].self) }
    #expect(error?.code == .invalidValue)
  }

  @Test("A value of another type, or several values, are invalid")
  func otherType() throws {
    var text = DataBuffer.holding { $0.write(codable: "text") }
    #expect(throws: DataBufferError.self) { _ = try text.readCodable(Int.self) }
    #expect(text.offset == 0)
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let pair = try encoder.encode([1, 2])
    var two = DataBuffer.holding { $0.write(pair) }
    let error = #expect(throws: DataBufferError.self) { _ = try two.readCodable(Int.self) }
    #expect(error?.code == .invalidValue)
    #expect(error?.offset == 0)
  }

  @Test("A value that can't be encoded is recorded with the name of its type")
  func notEncodable() {
    struct Stubborn: Encodable {
      struct Refusal: Error {}
      func encode(to encoder: any Encoder) throws { throw Refusal() }
    }
    var buffer = DataBuffer()
    buffer.write(UInt16(0))
    buffer.write(codable: Stubborn())
    #expect(buffer.failure?.code == .notEncodable)
    #expect(buffer.failure?.offset == 2)
    #expect(buffer.failure?.message.contains("Stubborn") == true)
  }

  /// A property list of containers, each given as its elements' numbers; the first is the top.
  private func list(ofArrays arrays: [[UInt8]]) -> DataBuffer {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for elements in arrays {
      offsets.append(UInt8(bytes.count))
      bytes += [0xA0 | UInt8(elements.count)] + elements
    }
    let table = UInt8(bytes.count)
    bytes += offsets + [UInt8](repeating: 0, count: 6) + [1, 1]
    for number in [UInt8(arrays.count), 0, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
    var buffer = DataBuffer()
    buffer.write(bytes)
    return DataBuffer(buffer.bytes)
  }

  private struct Nest: Codable {
    let inner: [Nest]
    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      var inner: [Nest] = []
      while !container.isAtEnd { inner.append(try container.decode(Nest.self)) }
      self.inner = inner
    }
    func encode(to encoder: any Encoder) throws {}
  }

  @Test("A property list that contains itself is refused, however its type is nested")
  func cycle() throws {
    var harmless = list(ofArrays: [[1], [2, 2], []])
    #expect(try harmless.readCodable(Nest.self).inner.count == 2)
    for arrays in [[[0]], [[1], [0]], [[1], [2], [1]]] as [[[UInt8]]] {
      var buffer = list(ofArrays: arrays)
      let error = #expect(throws: DataBufferError.self) { _ = try buffer.readCodable(Nest.self) }
      #expect(error?.code == .invalidValue)
    }
  }

  @Test("A short property list that expands to a huge one is refused")
  func explosion() {
    let arrays = (1...40).map { [UInt8($0), UInt8($0)] } + [[]]
    var buffer = list(ofArrays: arrays)
    #expect(throws: DataBufferError.self) { _ = try buffer.readCodable(Nest.self) }
  }
}
