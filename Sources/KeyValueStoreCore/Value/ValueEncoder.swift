import FoundationEssentials

/// Turns values of types with a coding of their own into ``StoredValue``s.
final class ValueEncoder: Encoder {
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]
  fileprivate var node = Node.none

  /// What has been encoded so far; containers fill in what they belong to as they go.
  fileprivate enum Node {
    case none
    case value(StoredValue)
    case array(Elements)
    case fields(Fields)
  }

  fileprivate final class Elements { var nodes: [ValueEncoder] = [] }
  fileprivate final class Fields { var nodes: [String: ValueEncoder] = [:] }

  fileprivate init(_ path: [any CodingKey]) { codingPath = path }

  static func encode(_ value: some Encodable) throws -> StoredValue {
    let encoder = ValueEncoder([])
    try encoder.put(value)
    return encoder.stored
  }

  /// Encodes one value; its own types are never asked for their coding.
  fileprivate func put<Value: Encodable>(_ value: Value) throws {
    if codingPath.count > ValueFormat.maximumDepth {
      throw KeyValueError(
        .notEncodable, "Values are nested more than \(ValueFormat.maximumDepth) deep.")
    }
    if let plain = StoredValue.plain(value) {
      node = .value(plain)
    } else {
      try value.encode(to: self)
    }
  }

  fileprivate var stored: StoredValue {
    switch node {
    case .none: .dictionary([:])
    case .value(let value): value
    case .array(let elements): .array(elements.nodes.map(\.stored))
    case .fields(let fields): .dictionary(fields.nodes.mapValues(\.stored))
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let fields: Fields
    if case .fields(let known) = node { fields = known } else { fields = Fields() }
    node = .fields(fields)
    return KeyedEncodingContainer(KeyedValues(fields: fields, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    let elements: Elements
    if case .array(let known) = node { elements = known } else { elements = Elements() }
    node = .array(elements)
    return UnkeyedValues(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValue(encoder: self) }
}

/// The name of an element of an array, or of a superclass.
struct PlainKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
  init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

extension ValueEncoder {
  fileprivate struct KeyedValues<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let fields: Fields
    let codingPath: [any CodingKey]

    private func encoder(_ key: any CodingKey) -> ValueEncoder {
      let encoder = ValueEncoder(codingPath + [key])
      fields.nodes[key.stringValue] = encoder
      return encoder
    }

    func encodeNil(forKey key: Key) { encoder(key).node = .value(.null) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try encoder(key).put(value) }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      encoder(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder(PlainKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
  }

  fileprivate struct UnkeyedValues: UnkeyedEncodingContainer {
    let elements: Elements
    let codingPath: [any CodingKey]
    var count: Int { elements.nodes.count }

    private func encoder() -> ValueEncoder {
      let encoder = ValueEncoder(codingPath + [PlainKey(intValue: count)])
      elements.nodes.append(encoder)
      return encoder
    }

    func encodeNil() { encoder().node = .value(.null) }
    func encode(_ value: some Encodable) throws { try encoder().put(value) }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { encoder().container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }
  }

  fileprivate struct SingleValue: SingleValueEncodingContainer {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.node = .value(.null) }
    func encode(_ value: Bool) { encoder.node = .value(.bool(value)) }
    func encode(_ value: String) { encoder.node = .value(.string(value)) }
    func encode(_ value: Double) { encoder.node = .value(.double(value)) }
    func encode(_ value: Float) { encoder.node = .value(.double(Double(value))) }
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
      encoder.node = .value(try StoredValue(value))
    }
  }
}
