import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport

enum JSONMood: UInt8, DataBufferValue {
  case calm
  case wild = 9
}

/// A type that only its own code can read.
struct JSONPoint: DataBufferValue, Equatable {
  var x: [UInt8] = [1, 2, 3]
  init(_ x: [UInt8] = [1, 2, 3]) { self.x = x }
  init(from buffer: inout DataBuffer) throws(DataBufferError) { x = try buffer.readBytes() }
  func write(to buffer: inout DataBuffer) { buffer.write(x) }
}

/// A `Codable` type with whatever JSON has no form for.
struct JSONShape: Codable, Equatable {
  var name: String?
  var number = 1.5
  var data = Data([1])
  var date = Date(timeIntervalSinceReferenceDate: 7.25)
  var parts: [String: [JSONShape]] = [:]
}

/// A class with a property of each type.
class JSONThing: StoredObject {
  @Content var isOn = false
  @Content var small: Int8 = 0
  @Content var large: Int = 0
  @Content var unsigned: UInt64 = 0
  @Content var half: Float = 0
  @Content var whole = 0.0
  @Content var title = ""
  @Content var data = Data()
  @Content var date = Date(timeIntervalSinceReferenceDate: 0)
  @Content var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  @Content var note: String?
  @Content var deep: Int??
  @Content var counts: [UInt16] = []
  @Content var bytes: [UInt8] = []
  @Content var tags: Set<String> = []
  @Content var names: [String: Float?] = [:]
  @Content var pairs: [Int32: [String]] = [:]
  @Content var mood = JSONMood.calm
  @Content var shape = JSONShape()
  @Content var point = JSONPoint()
  @Content var next: JSONThing?
  @Content var list: [JSONThing] = []
  @Content var group: Set<JSONThing> = []
  @Content var any: StoredObject?
  @Content var anyList: [StoredObject] = []

  override class var layout: ClassLayout? {
    ClassLayout(JSONThing.self, properties)
  }

  class var properties: [StoredProperty] {
    [
      StoredProperty("isOn", Bool.self), StoredProperty("small", Int8.self),
      StoredProperty("large", Int.self), StoredProperty("unsigned", UInt64.self),
      StoredProperty("half", Float.self), StoredProperty("whole", Double.self),
      StoredProperty("title", String.self), StoredProperty("data", Data.self),
      StoredProperty("date", Date.self), StoredProperty("uuid", UUID.self),
      StoredProperty("note", String?.self), StoredProperty("deep", Int??.self),
      StoredProperty("counts", [UInt16].self), StoredProperty("bytes", [UInt8].self),
      StoredProperty("tags", Set<String>.self), StoredProperty("names", [String: Float?].self),
      StoredProperty("pairs", [Int32: [String]].self), StoredProperty("mood", JSONMood.self),
      StoredProperty("shape", JSONShape.self), StoredProperty("point", JSONPoint.self),
      StoredProperty("next", JSONThing?.self), StoredProperty("list", [JSONThing].self),
      StoredProperty("group", Set<JSONThing>.self), StoredProperty("any", StoredObject?.self),
      StoredProperty("anyList", [StoredObject].self),
    ]
  }

  override func writeContent(to buffer: inout DataBuffer) throws {
    buffer.write(isOn)
    buffer.write(small)
    buffer.write(large)
    buffer.write(unsigned)
    buffer.write(half)
    buffer.write(whole)
    buffer.write(title)
    buffer.write(data)
    buffer.write(date)
    buffer.write(uuid)
    buffer.write(note)
    buffer.write(deep)
    buffer.write(counts)
    buffer.write(bytes)
    buffer.write(tags)
    buffer.write(names)
    buffer.write(pairs)
    buffer.write(mood)
    buffer.write(codable: shape)
    buffer.write(point)
    buffer.write(next)
    buffer.write(list)
    buffer.writeValue(group, as: Set<JSONThing>.self)
    buffer.writeAny(any)
    buffer.writeAny(anyList)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    isOn = try buffer.readBool()
    small = try buffer.read()
    large = try buffer.readInt()
    unsigned = try buffer.readUInt64()
    half = try buffer.readFloat()
    whole = try buffer.readDouble()
    title = try buffer.readString()
    data = try buffer.readData()
    date = try buffer.readDate()
    uuid = try buffer.readUUID()
    note = try buffer.read()
    deep = try buffer.read()
    counts = try buffer.read()
    bytes = try buffer.readBytes()
    tags = try buffer.read()
    names = try buffer.read()
    pairs = try buffer.read()
    mood = try buffer.read()
    shape = try buffer.readCodable()
    point = try buffer.read()
    next = try buffer.readObject(of: JSONThing.self)
    list = try buffer.readObjects(of: JSONThing.self)
    group = try buffer.readValue(of: Set<JSONThing>.self)
    any = try buffer.readAnyObject()
    anyList = try buffer.readAnyObjects()
  }
}

/// A subclass, which adds nothing.
final class JSONLive: JSONThing {
  override class var layout: ClassLayout? { ClassLayout(JSONLive.self, properties) }
}

/// A class that declares no properties.
final class JSONPlain: StoredObject {
  @Content var title = ""
  @Content var thing: JSONThing?

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(thing)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    thing = try buffer.readObject(of: JSONThing.self)
  }
}

/// Two classes whose references follow each other, with indexes.
final class JSONSinger: StoredObject {
  @Content var name = ""
  @Content var tunes: [JSONTune] = []

  override class var relationships: [Relationship] {
    [Relationship(\JSONSinger.tunes, deleteRule: .cascade, inverse: \JSONTune.singer)]
  }
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("name", \JSONSinger.name, isUnique: true)]
  }
  override class var layout: ClassLayout? {
    ClassLayout(
      JSONSinger.self,
      [StoredProperty("name", String.self), StoredProperty("tunes", [JSONTune].self)])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(tunes)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    tunes = try buffer.readObjects(of: JSONTune.self)
  }
}

final class JSONTune: StoredObject {
  @Content var title = "untitled"
  @Content var seconds: UInt8 = 3
  @Content var singer: JSONSinger?

  override class var indexes: [AttributeIndex] { [AttributeIndex("seconds", \JSONTune.seconds)] }
  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("title", \JSONTune.title)]
  }
  override class var layout: ClassLayout? {
    ClassLayout(
      JSONTune.self,
      [
        StoredProperty("title", String.self), StoredProperty("seconds", UInt8.self),
        StoredProperty("singer", JSONSinger?.self),
      ])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
    buffer.write(singer)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt8()
    singer = try buffer.readObject(of: JSONSinger.self)
  }
}

extension JSONThing {
  /// Gives each property a random value, now and then an extreme one.
  ///
  /// Sets and dictionaries have one element, so that records have one order.
  func randomize(_ others: [StoredObject], _ generator: inout SeededGenerator) {
    func pick<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: values.indices, using: &generator)]
    }
    let things = others.compactMap { $0 as? JSONThing }
    isOn = .random(using: &generator)
    small = pick([.min, -1, 0, .max])
    large = pick([.min, -1, 0, 1 << 53 + 1, .max])
    unsigned = pick([0, 1 << 53 + 1, .max, generator.next()])
    half = pick([
      0.1, -0.0, .nan, Float(bitPattern: 0xFF80_0001), .infinity, 3.4e38, .leastNonzeroMagnitude,
    ])
    whole = pick([
      0.1, -0.0, .nan, Double(bitPattern: 0x7FF0_0000_0000_0001), -.infinity,
      .leastNonzeroMagnitude, 5,
      .random(in: -1e18...1e18, using: &generator),
    ])
    title = pick(["", "Für Elise", "a\"\\\n\u{0}😀", "e\u{301}", "é"])
    data = pick([Data(), Data([0, 255, 7]), Data(repeating: 9, count: 100)])
    date = Date(
      timeIntervalSinceReferenceDate: pick([
        0, -0.0, 0.1, -5.000001, .nan, 1e300, .random(in: -1e10...1e10, using: &generator),
      ]))
    uuid = pick([uuid, UUID()])
    note = pick([nil, "", "null", "x"])
    deep = pick([nil, .some(nil), .some(.some(5))])
    counts = pick([[], [.max, 0], [1, 2, 3]])
    bytes = pick([[], [0, 255]])
    tags = pick([[], ["e\u{302}"]])
    names = pick([[:], ["a": nil], ["": .nan], ["$x": 1.5]])
    pairs = pick([[:], [-1: []], [.max: ["a", "b"]]])
    mood = pick([.calm, .wild])
    let inner = JSONShape(name: "$data", number: -.infinity, data: Data(), parts: [:])
    shape = pick([
      JSONShape(), JSONShape(name: "x", number: 5, parts: ["$data": [inner], "$fields": []]),
      JSONShape(number: .nan, parts: ["$date": [inner, inner]]),
    ])
    point = JSONPoint(pick([[], [1], Array(repeating: 3, count: 40)]))
    next = pick([nil, pick(things), self])
    list = pick([[], [pick(things), pick(things), self, self]])
    group = pick([[], [pick(things)], [self]])
    any = pick([nil, pick(others)])
    anyList = pick([[], [pick(others), pick(others), pick(others)]])
  }
}
