import Files
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@testable import KeyValueStoreCore

@Suite("Values")
struct ValueTests {
  struct Address: Codable, Equatable, Sendable {
    var street: String
    var number: UInt16?
  }
  struct Person: Codable, Equatable, Sendable {
    var name: String
    var born: Date
    var picture: Data
    var addresses: [Address]
    var scores: [String: Double]
    var large: UInt64
    var half: Float
    var link: URL
    var id: UUID
    var color: Color
    enum Color: String, Codable { case red, blue }
  }
  class Base: Codable {
    var base = 1
    init() {}
  }
  final class Derived: Base {
    var more = 2
    private enum Keys: CodingKey { case more, list }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      more = try container.decode(Int.self, forKey: .more)
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      #expect(try list.decodeNil())
      #expect(try list.decode(Int8.self) == -3)
      #expect(list.isAtEnd)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(more, forKey: .more)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encodeNil()
      try list.encode(Int8(-3))
      try super.encode(to: container.superEncoder())
    }
  }

  let table: KeyValueTable
  init() throws { table = try KeyValueStore(backend: MemoryBackend()).createTable("table") }

  private func expectSame<Value: Codable & Equatable>(_ value: Value) throws {
    try table.put(value, for: "k")
    #expect(try table.get("k", as: Value.self) == value)
  }

  @Test("Every type reads back")
  func types() throws {
    try expectSame("")
    try expectSame("ein Text, 💡\0")
    for number in [0, 1, -1, 63, 64, -64, -65, .max, .min] { try expectSame(number) }
    try expectSame(UInt64.max)
    try expectSame(Int8.min)
    for number in [0.1, -0.0, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
      try expectSame(number)
    }
    try table.put(Double.nan, for: "k")
    #expect(try table.get("k", as: Double.self)?.isNaN == true)
    try expectSame(Float(0.1))
    try expectSame(true)
    try expectSame(Data())
    try expectSame(Data([0, 255, 1]))
    try expectSame(Date(timeIntervalSinceReferenceDate: 0.1))
    try expectSame(Date.distantPast)
    try expectSame([[1, 2], [], [3]])
    try expectSame(["a": [1.5], "": []])
    try expectSame([Date(timeIntervalSinceReferenceDate: 7)])
    try expectSame([1, nil, 3])
    try expectSame(Decimal(string: "12.34"))
    try expectSame(
      Person(
        name: "Ada", born: Date(timeIntervalSinceReferenceDate: -1e9), picture: Data([1, 2]),
        addresses: [Address(street: "x", number: 3), Address(street: "y", number: nil)],
        scores: ["a": 0.5], large: .max, half: 0.5, link: URL(string: "https://swift.org/a?b")!,
        id: UUID(), color: .blue))
    let mixed: StoredValue = [
      "a": nil, "b": true, "c": 1, "d": 2.5, "e": "x", "f": [1, "y", [:]], "g": ["h": nil],
    ]
    try expectSame(mixed)
    try table.put(Derived(), for: "k")
    #expect(try table.get("k", as: Derived.self)?.base == 1)
    #expect(try table.get("k", as: Derived.self)?.more == 2)
  }

  @Test("A stored nil is a value, not a missing key")
  func null() throws {
    try table.put(String?.none, for: "nil")
    #expect(try table.contains("nil"))
    #expect(try table.value(for: "nil") == .null)
    let found = try table.get("nil", as: String?.self)
    #expect(found == .some(nil))
    #expect(try table.get("none", as: String?.self) == nil)
    #expect(code { _ = try table.get("nil", as: String.self) } == "typeMismatch")
    try table.put(String?.some("x"), for: "some")
    #expect(try table.get("some", as: String.self) == "x")
  }

  @Test("Reading another type is an error that names table, key and both types")
  func mismatch() throws {
    try table.put("5", for: "string")
    try table.put(5, for: "int")
    try table.put(5.0, for: "double")
    try table.put(300, for: "large")
    try table.put(Address(street: "x", number: nil), for: "address")
    func isRefused<Value: Decodable>(_ key: String, _ type: Value.Type) {
      #expect(code { _ = try table.get(key, as: type) } == "typeMismatch", "\(key) as \(type)")
    }
    for key in ["string", "double", "address"] { isRefused(key, Int.self) }
    for key in ["int", "double", "address"] { isRefused(key, String.self) }
    isRefused("string", Double.self)
    for key in ["int", "string", "double", "address"] {
      isRefused(key, Bool.self)
      isRefused(key, Data.self)
      isRefused(key, Date.self)
      isRefused(key, [Int].self)
    }
    isRefused("large", UInt8.self)
    try table.put((1 << 53) + 1, for: "exact")
    isRefused("exact", Double.self)
    #expect(try table.get("int", as: Double.self) == 5)
    #expect(try table.get("int", as: Float.self) == 5)
    isRefused("address", Person.self)
    #expect(try table.get("large", as: UInt16.self) == 300)
    let error = #expect(throws: StoreError.self) { try table.get("string", as: Int.self) }
    #expect(
      error?.description.hasPrefix(
        """
        typeMismatch [table "table", key "string"]: The value was requested as Int, and is a String
        """)
        == true)
    #expect(error?.description.contains("5") == false)
  }

  @Test("A value that can't be encoded is refused, and nothing is written")
  func notEncodable() throws {
    struct Refusing: Encodable {
      func encode(to encoder: any Encoder) throws { throw CancellationError() }
    }
    let error = #expect(throws: StoreError.self) { try table.put(Refusing(), for: "k") }
    #expect(error?.code == .notEncodable && error?.underlying is CancellationError)
    #expect(error?.location == StoreError.Location(table: table.name, key: "k"))
    var deep: StoredValue = 1
    for _ in 0..<ValueFormat.maximumDepth { deep = [deep] }
    try expectSame(deep)
    #expect(code { try table.put([deep], for: "l") } == "notEncodable")
    #expect(code { try table.put(Int128.max, for: "l") } == "notEncodable")
    #expect(try table.all.keys() == ["k"])
    #expect(throws: StoreError.self) {
      try table.store.write { batch in
        try batch.put(1, for: "m", in: table)
        try batch.put(Refusing(), for: "l", in: table)
      }
    }
    #expect(try !table.contains("m"))
  }

  @Test("The bytes of an item are those of the page on the format")
  func exactBytes() throws {
    var bytes = Array("k".utf8)
    let date = Date(timeIntervalSinceReferenceDate: 800_000_000)
    let head = ItemHead(createdAt: date, updatedAt: date + 1, expiresAt: nil)
    let value: StoredValue = ["n": -3, "s": "hi"]
    try ItemFormat.append(
      ItemRecord(head: head, value: value), behindKeyAt: 0, of: 1, to: &bytes)
    bytes.removeFirst()
    let hex = bytes.map { String(format: "%02x", $0) }.joined()
    #expect(
      hex.dropLast(8) == "110000000084d7c7410000800084d7c7410a02016e0305017306026869")
    #expect(bytes.count == 33)
    let record = try Array("k".utf8).lend { key in
      try bytes.lend { try ItemFormat.record($0, of: key, in: 1) }
    }
    #expect(record.value == value)
  }

  @Test("An item with a changed bit, or under another key, is refused")
  func damage() throws {
    let backend = try MemoryBackend()
    let store = try KeyValueStore(backend: backend)
    let table = try store.createTable("a")
    try table.put(["x": [1, 2, 3]], for: "k")
    try table.put("other", for: "l")
    let items = try backend.orderedTable(OrderedTableName("KeyValueItems-1", kind: .data))
    func record(_ key: String) throws -> [UInt8] {
      try backend.withValue(of: Array(key.utf8), in: items) { bytes in
        [UInt8](copying: bytes)
      } ?? []
    }
    func set(_ bytes: [UInt8]) throws {
      var changes = ChangeSet()
      changes.set(Array("k".utf8), to: bytes, in: items)
      try backend.commit(changes)
    }
    let good = try record("k")
    for bit in 0..<good.count * 8 {
      var bad = good
      bad[bit / 8] ^= 1 << UInt8(bit % 8)
      try set(bad)
      #expect(code { _ = try table.item("k") } == "damaged", "bit \(bit)")
      #expect(code { _ = try table.all.items() } == "damaged", "bit \(bit)")
      #expect(code { _ = try table.withBytes(of: "k") { _ in } } == "damaged", "bit \(bit)")
      #expect(code { try table.all.forEachBytes { _, _ in } } == "damaged", "bit \(bit)")
    }
    for count in 0..<good.count {
      try set(Array(good[..<count]))
      #expect(code { _ = try table.item("k") } == "damaged", "\(count) bytes")
    }
    try set(record("l"))
    #expect(code { _ = try table.item("k") } == "damaged")
    #expect(code { _ = try table.all.items() } == "damaged")
    #expect(try table.get("l", as: String.self) == "other")
    // It can be put again.
    try table.put(1, for: "k")
    #expect(try table.all.items().count == 2)
  }

  @Test("No bytes of a value can do harm")
  func hostileBytes() throws {
    var generator = Seeds.generator(for: "hostile values")
    for _ in 0..<20_000 {
      var bytes: [UInt8] = []
      try ValueFormat.append(["a": [1, "xyz", 2.5, nil], "b": ["c": true]], to: &bytes)
      for _ in 0...Int.random(in: 0..<4, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
          in: 0 ... .max, using: &generator)
      }
      let value = bytes.lend { try? ValueReader.value(in: $0) }
      guard let value else { continue }
      // A value that was read can be written.
      var again: [UInt8] = []
      try ValueFormat.append(value, to: &again)
    }
    let deep = (0..<20_000).map { UInt8($0 % 2 == 0 ? 9 : 1) }
    #expect(deep.lend { try? ValueReader.value(in: $0) } == nil)
  }
}
