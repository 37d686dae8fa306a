import Foundation

/// A `Codable` type of every shape that codings have.
indirect enum Shape: Codable {
  enum Color: String, Codable, Hashable, CodingKeyRepresentable { case red, blue }
  enum Level: Int8, Codable, Hashable, CaseIterable {
    case low = -1
    case high = 1
  }
  struct Empty: Codable {}
  struct Numbers: Codable {
    var a: Int8
    var b: Int16
    var c: Int32
    var d: Int64
    var e: Int
    var f: UInt8
    var g: UInt16
    var h: UInt32
    var i: UInt64
    var j: UInt
    var double: Double
    var float: Float
  }
  class Base: Codable {
    var base: String
    init(_ base: String) { self.base = base }
  }
  final class Derived: Base {
    var more: [Shape]
    private enum Keys: CodingKey { case more, list }
    init(_ base: String, _ more: [Shape]) {
      self.more = more
      super.init(base)
    }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      guard try list.decodeNil() else { throw CancellationError() }
      more = try list.decode([Shape].self)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encodeNil()
      try super.encode(to: container.superEncoder())
      try list.encode(more)
    }
  }

  case plain
  case flag(Bool)
  case numbers(Numbers)
  case text(String)
  case bytes(Data, [UInt8])
  case foundation(Date, Decimal, UUID, URL)
  // Codings of Swift know no optional that is nil in one that is not.
  case optional(Int?, maybe: String??)
  case list([Shape])
  case optionals([String?], [Double?])
  case byName([String: Shape])
  case byNumber([Int: Shape])
  case byColor([Color: String])
  case byLevel([Level: Shape])
  case sets(Set<Int>, Set<Level>)
  case pair(Shape, second: Shape)
  case derived(Derived)
  case empty(Empty, [Empty])

  /// Everything in the value, bit by bit: two values have the same text only if they are the same.
  var exact: String {
    switch self {
    case .plain: "plain"
    case .flag(let flag): "flag \(flag)"
    case .numbers(let n):
      """
      numbers \([Int64(n.a), Int64(n.b), Int64(n.c), n.d, Int64(n.e)]) \
      \([UInt64(n.f), UInt64(n.g), UInt64(n.h), n.i, UInt64(n.j)]) \
      \(n.double.bitPattern) \(n.float.bitPattern)
      """
    case .text(let text): "text \(Array(text.utf8))"
    case .bytes(let data, let bytes): "bytes \(Array(data)) \(bytes)"
    case .foundation(let date, let decimal, let id, let url):
      "foundation \(date.timeIntervalSinceReferenceDate.bitPattern) \(decimal) \(id) \(url)"
    case .optional(let number, let text):
      "optional \(String(describing: number)) \(text.map { $0.map { Array($0.utf8) } } as Any)"
    case .list(let shapes): "list \(shapes.map(\.exact))"
    case .optionals(let texts, let numbers):
      "optionals \(texts.map { $0.map { Array($0.utf8) } }) \(numbers.map { $0?.bitPattern })"
    case .byName(let shapes):
      "byName \(shapes.map { "\(Array($0.key.utf8)) \($0.value.exact)" }.sorted())"
    case .byNumber(let shapes): "byNumber \(shapes.map { "\($0.key) \($0.value.exact)" }.sorted())"
    case .byColor(let texts):
      "byColor \(texts.map { "\($0.key) \(Array($0.value.utf8))" }.sorted())"
    case .byLevel(let shapes): "byLevel \(shapes.map { "\($0.key) \($0.value.exact)" }.sorted())"
    case .sets(let numbers, let levels):
      "sets \(numbers.sorted()) \(levels.map(\.rawValue).sorted())"
    case .pair(let first, let second): "pair (\(first.exact)) (\(second.exact))"
    case .derived(let object): "derived \(Array(object.base.utf8)) \(object.more.map(\.exact))"
    case .empty(_, let more): "empty \(more.count)"
    }
  }
}

extension Shape {
  private static let texts = [
    "", "$null", "é", "e\u{301}", "\u{212B}", "Å", "a\0b", "日本語", "💡👩‍👩‍👧", "\u{FEFF}x", "super", "_0",
    String(repeating: "long ", count: 300),
  ]
  private static let doubles: [Double] = [
    0, -0.0, 1, 0.1, .infinity, -.infinity, .nan, .signalingNaN, .leastNonzeroMagnitude,
    .greatestFiniteMagnitude, Double(bitPattern: 0xFFF8_0000_DEAD_BEEF), 9_007_199_254_740_992,
  ]
  private static let floats: [Float] = [
    0, -0.0, 0.1, .infinity, .nan, .signalingNaN, .leastNonzeroMagnitude,
    Float(bitPattern: 0xFFC0_BEEF), Float(bitPattern: 0x7F80_0001),
  ]

  /// A value with so many levels at most.
  static func random(
    _ levels: Int, withNaN: Bool = true, using random: inout some RandomNumberGenerator
  ) -> Shape {
    let doubles = doubles.filter { withNaN || !$0.isNaN }
    let floats = floats.filter { withNaN || !$0.isNaN }
    func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: .max
      case 1: .min
      case 2: Number(truncatingIfNeeded: Int.random(in: -2...2, using: &random))
      default: .random(in: .min ... .max, using: &random)
      }
    }
    func pick<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: 0..<values.count, using: &random)]
    }
    func several<Value>(_ make: () -> Value) -> [Value] {
      (0..<Int.random(in: 0..<4, using: &random)).map { _ in make() }
    }
    func text() -> String { pick(texts) }
    func below() -> Shape { .random(levels - 1, withNaN: withNaN, using: &random) }
    switch Int.random(in: 0..<(levels > 0 ? 17 : 7), using: &random) {
    case 0: return .plain
    case 1: return .flag(.random(using: &random))
    case 2:
      return .numbers(
        Numbers(
          a: number(Int8.self), b: number(Int16.self), c: number(Int32.self),
          d: number(Int64.self), e: number(Int.self), f: number(UInt8.self),
          g: number(UInt16.self), h: number(UInt32.self), i: number(UInt64.self),
          j: number(UInt.self), double: pick(doubles), float: pick(floats)))
    case 3: return .text(text())
    case 4: return .bytes(Data(several { number(UInt8.self) }), several { number(UInt8.self) })
    case 5:
      return .foundation(
        Date(timeIntervalSinceReferenceDate: pick(doubles.filter { !$0.isNaN })),
        Decimal(number(Int64.self)) / 1000, UUID(),
        URL(fileURLWithPath: "/a b/\(number(UInt8.self))"))
    case 6:
      return .optional(
        pick([nil, 0, .min]), maybe: pick([nil, .some("$null"), .some("x")]))
    case 7: return .list(several(below))
    case 8:
      return .optionals(several { pick([nil, text()]) }, several { pick([nil, pick(doubles)]) })
    case 9: return .byName(Dictionary(several { (text(), below()) }) { $1 })
    case 10: return .byNumber(Dictionary(several { (number(Int.self), below()) }) { $1 })
    case 11: return .byColor([.red: text(), .blue: text()])
    case 12: return .byLevel(Dictionary(several { (pick(Level.allCases), below()) }) { $1 })
    case 13: return .sets(Set(several { number(Int.self) }), Set(several { pick(Level.allCases) }))
    case 14: return .pair(below(), second: below())
    case 15: return .derived(Derived(text(), several(below)))
    default: return .empty(Empty(), several { Empty() })
    }
  }
}
