import FoundationEssentials

/// An encoder that turns `Encodable` values into ``StoredValue``s.
final class ValueEncoder: Encoder {
  private let parent: ValueEncoder?
  private let key: (any CodingKey)?
  /// The number of containers around this one.
  private let depth: Int
  /// The number of nested calls of `put`.
  ///
  /// Types that encode themselves as another value add calls without adding containers.
  private var callDepth: Int
  private let problems: Problems
  fileprivate var content = Content.none

  /// The values encoded so far; containers append to it.
  fileprivate enum Content {
    case none
    case value(StoredValue)
    case array(Elements)
    case fields(Fields)
  }

  /// A value, or an encoder that still collects one.
  fileprivate enum Slot {
    case value(StoredValue)
    case encoder(ValueEncoder)

    var stored: StoredValue {
      switch self {
      case .value(let value): value
      case .encoder(let encoder): encoder.stored
      }
    }
  }

  fileprivate final class Elements { var slots: [Slot] = [] }
  fileprivate final class Fields { var slots: [(String, Slot)] = [] }

  /// The problems found in calls that can't throw.
  private final class Problems { var isTooDeep = false }

  private init() {
    (parent, key, depth, callDepth, problems) = (nil, nil, 0, 0, Problems())
  }

  private init(inside parent: ValueEncoder, _ key: any CodingKey) {
    (self.parent, self.key, problems) = (parent, key, parent.problems)
    (depth, callDepth) = (parent.depth + 1, parent.callDepth)
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  var codingPath: [any CodingKey] {
    var path: [any CodingKey] = []
    var encoder = self
    while let key = encoder.key, let parent = encoder.parent {
      path.append(key)
      encoder = parent
    }
    return path.reversed()
  }

  static func encode(_ value: some Encodable) throws -> StoredValue {
    let encoder = ValueEncoder()
    try encoder.put(value)
    if encoder.problems.isTooDeep { throw ValueFailure.tooDeep }
    return encoder.stored
  }

  /// Encodes one value; `encode(to:)` of types with a stored form is never called.
  fileprivate func put<Value: Encodable>(_ value: Value) throws {
    if let plain = StoredValue.plain(value) {
      content = .value(plain)
      return
    }
    guard !problems.isTooDeep, callDepth < ValueFormat.maximumCallDepth else {
      throw ValueFailure.tooDeep
    }
    callDepth += 1
    defer { callDepth -= 1 }
    try value.encode(to: self)
  }

  fileprivate var stored: StoredValue {
    switch content {
    case .none: .dictionary(StoredValue.Fields([]))
    case .value(let value): value
    case .array(let elements): .array(StoredValue.Elements(elements.slots.map(\.stored)))
    case .fields(let fields):
      .dictionary(StoredValue.Fields(fields.slots.map { ($0, $1.stored) }))
    }
  }

  /// Returns an encoder for a value in a container of this one.
  ///
  /// Beyond the maximum depth the encoder's result is discarded, because not every caller can be
  /// stopped by an error.
  private func inner(_ key: any CodingKey) -> (encoder: ValueEncoder, counts: Bool) {
    if depth >= ValueFormat.maximumDepth { problems.isTooDeep = true }
    return (ValueEncoder(inside: self, key), !problems.isTooDeep)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let fields: Fields
    if case .fields(let known) = content { fields = known } else { fields = Fields() }
    content = .fields(fields)
    return KeyedEncodingContainer(KeyedValues(fields: fields, encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    let elements: Elements
    if case .array(let known) = content { elements = known } else { elements = Elements() }
    content = .array(elements)
    return UnkeyedValues(elements: elements, encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValue(encoder: self) }
}

/// The key of an array element, or of a superclass.
struct PlainKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
  init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

extension ValueEncoder {
  fileprivate struct KeyedValues<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let fields: Fields
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func inner(_ key: any CodingKey) -> ValueEncoder {
      let (inner, counts) = encoder.inner(key)
      if counts { fields.slots.append((key.stringValue, .encoder(inner))) }
      return inner
    }

    func encodeNil(forKey key: Key) { fields.slots.append((key.stringValue, .value(.null))) }
    func encode(_ value: some Encodable, forKey key: Key) throws {
      if let plain = StoredValue.plain(value) {
        fields.slots.append((key.stringValue, .value(plain)))
      } else {
        try inner(key).put(value)
      }
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { inner(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      inner(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { inner(PlainKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { inner(key) }
  }

  fileprivate struct UnkeyedValues: UnkeyedEncodingContainer {
    let elements: Elements
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { elements.slots.count }

    private func inner() -> ValueEncoder {
      let (inner, counts) = encoder.inner(PlainKey(intValue: count))
      if counts { elements.slots.append(.encoder(inner)) }
      return inner
    }

    func encodeNil() { elements.slots.append(.value(.null)) }
    func encode(_ value: some Encodable) throws {
      if let plain = StoredValue.plain(value) {
        elements.slots.append(.value(plain))
      } else {
        try inner().put(value)
      }
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { inner().container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { inner().unkeyedContainer() }
    func superEncoder() -> any Encoder { inner() }
  }

  fileprivate struct SingleValue: SingleValueEncodingContainer {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.content = .value(.null) }
    func encode(_ value: Bool) { encoder.content = .value(.bool(value)) }
    func encode(_ value: String) { encoder.content = .value(.string(value)) }
    func encode(_ value: Double) { encoder.content = .value(.double(value)) }
    func encode(_ value: Float) { encoder.content = .value(.double(Double(keepingBitsOf: value))) }
    func encode(_ value: Int) throws { try number(value) }
    func encode(_ value: Int8) throws { try number(value) }
    func encode(_ value: Int16) throws { try number(value) }
    func encode(_ value: Int32) throws { try number(value) }
    func encode(_ value: Int64) throws { try number(value) }
    func encode(_ value: Int128) throws { try number(value) }
    func encode(_ value: UInt) throws { try number(value) }
    func encode(_ value: UInt8) throws { try number(value) }
    func encode(_ value: UInt16) throws { try number(value) }
    func encode(_ value: UInt32) throws { try number(value) }
    func encode(_ value: UInt64) throws { try number(value) }
    func encode(_ value: UInt128) throws { try number(value) }
    func encode(_ value: some Encodable) throws { try encoder.put(value) }

    private func number(_ value: some FixedWidthInteger) throws {
      encoder.content = .value(try StoredValue(value))
    }
  }
}
