import StoreEngine
import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoredObjectsCore

/// A value as a model in memory has it.
private enum Value: Equatable {
  case int(Int64)
  case double(Double)
  case text(String)
  case none
  indirect case some(Value)
  case list([Value])
}

/// A property of a class whose source is changed by chance.
private struct Draft {
  /// Tells properties of the same name apart that have nothing to do with each other.
  var identity: Int
  var name: String
  var type: StoredType
  var formerNames: [String] = []
  /// The value of an old record without the property.
  var standard: Value
}

extension Value {
  /// The value after a change of its type.
  func widened(to type: StoredType) -> Value {
    switch (self, type) {
    case (.none, .optional): .none
    case (.some(let value), .optional(let type)): .some(value.widened(to: type))
    case (_, .optional(let type)): .some(widened(to: type))
    case (.list(let values), .array(let type)): .list(values.map { $0.widened(to: type) })
    case (.int(let number), .double): .double(Double(number))
    case (.int(let number), .string): .text("\(number)")
    case (.double(let number), .string): .text("\(number)")
    default: self
    }
  }

  func write(_ type: StoredType, to buffer: inout DataBuffer) {
    switch (self, type) {
    case (.int(let number), .integer(let bitCount, _)):
      for byte in 0..<Int64(bitCount) / 8 {
        buffer.write(UInt8(truncatingIfNeeded: number >> (8 * byte)))
      }
    case (.double(let number), _): buffer.write(number)
    case (.text(let text), _): buffer.write(text)
    case (.some(let value), .optional(let type)):
      buffer.write(true)
      value.write(type, to: &buffer)
    case (.none, _): buffer.write(false)
    case (.list(let values), .array(let type)):
      buffer.write(UInt32(values.count))
      for value in values { value.write(type, to: &buffer) }
    default: Issue.record("\(self) is no \(type)")
    }
  }

  static func random(_ type: StoredType, _ random: inout SeededGenerator) -> Value {
    switch type {
    case .integer(let bitCount, let isSigned):
      let limit = Int64(1) << (Int64(min(bitCount, 63)) - 1)
      return .int(.random(in: (isSigned ? -limit : 0)...(limit - 1), using: &random))
    case .double: return .double(Double(Int32.random(in: -9...9, using: &random)) / 4)
    case .optional(let type):
      return Bool.random(using: &random) ? .none : .some(.random(type, &random))
    case .array(let type):
      let count = Int.random(in: 0...3, using: &random)
      return .list((0..<count).map { _ in .random(type, &random) })
    default: return .text(String("abcdef".prefix(Int.random(in: 0...6, using: &random))))
    }
  }
}

/// A class through its versions, with a record of each and its values.
private struct ChangingClass {
  var random: SeededGenerator
  var properties: [Draft] = []
  var saved: [SavedLayout] = []
  var records: [(number: UInt8, bytes: [UInt8], values: [Int: Value])] = []
  var identities = 0
  var names = 0
  var number: UInt8 = 0

  private static let types: [StoredType] = [
    .integer(bitCount: 8, isSigned: false), .integer(bitCount: 16, isSigned: true),
    .integer(bitCount: 32, isSigned: false), .double, .string,
    .array(.integer(bitCount: 8, isSigned: true)), .optional(.string),
    .optional(.integer(bitCount: 16, isSigned: false)),
  ]

  init(_ random: SeededGenerator) {
    self.random = random
    for _ in 0..<3 { insert() }
  }

  var layout: ClassLayout {
    ClassLayout(
      StoredObject.self,
      properties.map { draft in
        draft.formerNames.reduce(StoredProperty(draft.name, draft.type)) { $0.formerly($1) }
      })
  }

  mutating func insert() {
    let names = Set("abcdefghij".map(String.init)).subtracting(properties.map(\.name))
      .subtracting(saved.last?.names ?? []).sorted()
    guard let name = names.randomElement(using: &random) else { return }
    guard let type = Self.types.randomElement(using: &random) else { return }
    identities += 1
    let position = Int.random(in: 0...properties.count, using: &random)
    properties.insert(
      Draft(identity: identities, name: name, type: type, standard: .random(type, &random)),
      at: position)
  }

  /// Changes the source by chance.
  mutating func change() {
    let index = properties.indices.randomElement(using: &random)
    switch (Int.random(in: 0..<5, using: &random), index) {
    case (0, _), (_, nil): insert()
    case (1, let index?): properties.remove(at: index)
    case (2, _): properties.shuffle(using: &random)
    case (3, let index?): rename(index)
    case (_, let index?): widen(index)
    }
  }

  private mutating func rename(_ index: Int) {
    names += 1
    properties[index].formerNames.append(properties[index].name)
    properties[index].name = "n\(names)"
  }

  private mutating func widen(_ index: Int) {
    let old = properties[index].type
    let wider: [StoredType] = [
      .integer(bitCount: 32, isSigned: true), .integer(bitCount: 64, isSigned: true), .double,
      .string, .optional(old), .array(.integer(bitCount: 64, isSigned: true)),
      .optional(.integer(bitCount: 64, isSigned: false)),
    ]
    let new = wider.shuffled(using: &random).first {
      StoredConversion(from: old, to: $0)?.isNone == false
    }
    guard let new, !(old == .double && new == .string) else { return }
    properties[index].standard = properties[index].standard.widened(to: new)
    properties[index].type = new
  }

  /// Registers the class, saves a record, and compares all records with the model.
  mutating func run() throws {
    let declared = DeclaredLayout(classVersion: 0, layout: layout)
    let metadata =
      saved.isEmpty
      ? nil : ClassMetadata(classVersion: number, classID: 0, salt: .init(0, 0))
    let layouts = try LayoutResolution("Song", declared, metadata, saved).layouts()
    #expect(!layouts.isOutdated || saved.dropLast().contains { $0.number == layouts.number })
    if layouts.isOutdated { return }
    for record in records { try compare(record, layouts) }
    (saved, number) = (layouts.all, layouts.number)
    let values = Dictionary(
      properties.map { ($0.identity, Value.random($0.type, &random)) }, uniquingKeysWith: { $1 })
    records.append((number, encode { values[$0.identity] ?? .none }, values))
  }

  private func encode(_ value: (Draft) -> Value) -> [UInt8] {
    var buffer = DataBuffer()
    for property in properties { value(property).write(property.type, to: &buffer) }
    return buffer.bytes
  }

  private func compare(
    _ record: (number: UInt8, bytes: [UInt8], values: [Int: Value]), _ layouts: ClassLayouts
  ) throws {
    let expected = encode { property in
      record.values[property.identity]?.widened(to: property.type) ?? property.standard
    }
    switch layouts.reading(record.number) {
    case .asVersion: #expect(record.bytes == expected)
    case .later: Issue.record("layout \(record.number) is not read")
    case .converted(let conversion, _):
      var (old, output) = (DataBuffer(record.bytes), DataBuffer())
      let fresh = DataBuffer(encode(\.standard))
      try conversion.convert(&old, fresh: fresh, into: &output) { _ throws(DataBufferError) in 0 }
      #expect(output.bytes == expected && old.remainingCount == 0)
    }
  }
}

extension SavedLayout {
  fileprivate var names: [String] {
    guard case .properties(let properties) = form else { return [] }
    return properties.map(\.name)
  }
}

@Suite("Chains of layouts")
struct LayoutChainTests {
  @Test("No chain of changes to a class gives a property the value of another")
  func chains() throws {
    var seeds = Seeds.generator(for: "chains of layouts")
    for _ in 0..<300 {
      var chain = ChangingClass(SeededGenerator(seed: seeds.next()))
      try chain.run()
      for _ in 0..<10 {
        for _ in 0..<Int.random(in: 1...3, using: &chain.random) { chain.change() }
        try chain.run()
      }
      #expect(chain.records.count > 1)
    }
  }

  @Test("Layouts read back, and damaged bytes are an error")
  func bytes() throws {
    var chain = ChangingClass(Seeds.generator(for: "bytes of layouts"))
    for _ in 0..<20 {
      chain.change()
      try chain.run()
    }
    var buffer = DataBuffer()
    LayoutFormat.write(chain.saved, to: &buffer)
    var reader = DataBuffer(buffer.bytes)
    let read = try LayoutFormat.read(&reader)
    #expect(read.map(\.number) == chain.saved.map(\.number))
    #expect(zip(read, chain.saved).allSatisfy { $0.form.isSame(as: $1.form) })
    for count in 0..<buffer.bytes.count {
      var cut = DataBuffer(Array(buffer.bytes.prefix(count)))
      #expect(throws: DataBufferError.self) { try LayoutFormat.read(&cut) }
    }
    for _ in 0..<5_000 {
      var damaged = buffer.bytes
      let index = Int.random(in: damaged.indices, using: &chain.random)
      damaged[index] = .random(in: 0...255, using: &chain.random)
      var reader = DataBuffer(damaged)
      _ = try? LayoutFormat.read(&reader)
    }
  }

  @Test("Types that are nested too deep are an error")
  func depth() {
    let head: [UInt8] = [1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]
    var reader = DataBuffer(head + Array(repeating: 9, count: 99_999))
    #expect(throws: DataBufferError.self) { try LayoutFormat.read(&reader) }
  }
}
