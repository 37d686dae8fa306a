import FoundationEssentials

/// A decoder that creates `Decodable` values from ``StoredValue``s.
struct ValueDecoder: Decoder {
  let value: StoredValue
  private let component: PathComponent

  /// The coding path of a value, and the state of its decoding.
  private final class PathComponent {
    let parent: PathComponent?
    let key: (any CodingKey)?
    let fromPropertyList: Bool
    /// The number of nested calls of `decode`.
    let callDepth: Int

    init(fromPropertyList: Bool) {
      (parent, key, self.fromPropertyList, callDepth) = (nil, nil, fromPropertyList, 0)
    }

    init(inside parent: PathComponent, _ key: (any CodingKey)?, _ callDepth: Int) {
      (self.parent, self.key, self.callDepth) = (parent, key, callDepth)
      fromPropertyList = parent.fromPropertyList
    }
  }

  /// Creates a decoder.
  ///
  /// Property lists represent nil as the text "$null". With `fromPropertyList`, the decoder reads
  /// this text as nil for optional types.
  init(_ value: StoredValue, fromPropertyList: Bool) {
    (self.value, component) = (value, PathComponent(fromPropertyList: fromPropertyList))
  }

  private init(_ value: StoredValue, _ component: PathComponent) {
    (self.value, self.component) = (value, component)
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  var codingPath: [any CodingKey] {
    var path: [any CodingKey] = []
    var component: PathComponent? = component
    while let here = component {
      if let key = here.key { path.append(key) }
      component = here.parent
    }
    return path.reversed()
  }

  /// Returns a decoder for a value inside this one.
  fileprivate func inner(_ value: StoredValue, _ key: any CodingKey) -> ValueDecoder {
    ValueDecoder(value, PathComponent(inside: component, key, component.callDepth))
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // Foundation's own coding of these types differs from the form in which they were stored.
    if type == Date.self || type == Data.self {
      if let plain: Value = value.plain() { return plain }
      throw mismatch(type)
    }
    guard component.callDepth < ValueFormat.maximumCallDepth else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: ValueFailure.tooDeep.description))
    }
    return try Value(
      from: ValueDecoder(value, PathComponent(inside: component, nil, component.callDepth + 1)))
  }

  fileprivate var isNil: Bool {
    switch value {
    case .null: true
    case .string(let text): component.fromPropertyList && text == "$null"
    default: false
    }
  }

  fileprivate func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type, .init(codingPath: codingPath, debugDescription: "There is \(value.kind)."))
  }

  func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    guard case .dictionary(let fields) = value else { throw mismatch([String: StoredValue].self) }
    return KeyedDecodingContainer(KeyedValues(fields: fields, decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch([StoredValue].self) }
    return UnkeyedValues(elements: elements, decoder: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { SingleValue(decoder: self) }
}

extension ValueDecoder {
  fileprivate struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: StoredValue.Fields
    let decoder: ValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try inner(key).isNil }

    private func value(_ key: any CodingKey) throws -> StoredValue {
      if let value = fields[key.stringValue] { return value }
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "There is no such field."))
    }

    private func inner(_ key: any CodingKey) throws -> ValueDecoder {
      decoder.inner(try value(key), key)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      let value = try value(key)
      if let plain: Value = value.plain() { return plain }
      return try decoder.inner(value, key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try inner(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try inner(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try inner(PlainKey(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try inner(key) }
  }

  fileprivate struct UnkeyedValues: UnkeyedDecodingContainer {
    let elements: StoredValue.Elements
    let decoder: ValueDecoder
    var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(elements: StoredValue.Elements, decoder: ValueDecoder) {
      (self.elements, self.decoder) = (elements, decoder)
    }

    /// Decodes the next element, and advances only if the closure succeeds.
    private mutating func next<Result>(
      _ type: Any.Type, _ body: (ValueDecoder) throws -> Result
    ) throws -> Result {
      let key = PlainKey(intValue: currentIndex)
      guard !isAtEnd else {
        throw DecodingError.valueNotFound(
          type,
          .init(
            codingPath: codingPath + [key], debugDescription: "The array has no more elements."))
      }
      let result = try body(decoder.inner(elements[currentIndex], key))
      currentIndex += 1
      return result
    }

    mutating func decodeNil() -> Bool {
      guard !isAtEnd else { return false }
      let isNil = decoder.inner(elements[currentIndex], PlainKey(intValue: currentIndex)).isNil
      if isNil { currentIndex += 1 }
      return isNil
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      if !isAtEnd, let plain: Value = elements[currentIndex].plain() {
        currentIndex += 1
        return plain
      }
      return try next(type) { try $0.decode(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
      try next(type) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try next([StoredValue].self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next(StoredValue.self) { $0 } }
  }

  fileprivate struct SingleValue: SingleValueDecodingContainer {
    let decoder: ValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isNil }

    func decode(_ type: Bool.Type) throws -> Bool {
      guard case .bool(let value) = decoder.value else { throw decoder.mismatch(type) }
      return value
    }
    func decode(_ type: String.Type) throws -> String {
      guard case .string(let value) = decoder.value else { throw decoder.mismatch(type) }
      return value
    }
    func decode(_ type: Double.Type) throws -> Double {
      guard let value = decoder.value.floatingPoint else { throw decoder.mismatch(type) }
      return value
    }
    func decode(_ type: Float.Type) throws -> Float {
      Float(keepingBitsOf: try decode(Double.self))
    }
    func decode(_ type: Int.Type) throws -> Int { try number(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try number(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try number(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try number(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try number(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try number(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try number(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try number(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try number(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try number(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try number(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try number(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      if let plain: Value = decoder.value.plain() { return plain }
      return try decoder.decode(type)
    }

    private func number<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
      guard let number = decoder.value.integer(as: type) else { throw decoder.mismatch(type) }
      return number
    }
  }
}
