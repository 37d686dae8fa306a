import FoundationEssentials

/// Makes values of types with a coding of their own from ``StoredValue``s.
struct ValueDecoder: Decoder {
  let value: StoredValue
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  static func decode<Value: Decodable>(
    _ type: Value.Type, from value: StoredValue, path: [any CodingKey]
  ) throws -> Value {
    let decoder = ValueDecoder(value: value, codingPath: path)
    // Their own codings would take other roads than the values have come.
    if type == Date.self || type == Data.self {
      switch value {
      case .date(let date): if let date = date as? Value { return date }
      case .data(let data): if let data = data as? Value { return data }
      default: break
      }
      throw decoder.mismatch(type)
    }
    return try Value(from: decoder)
  }

  func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type, .init(codingPath: codingPath, debugDescription: "There is \(value.kind)."))
  }

  func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    guard case .dictionary(let fields) = value else { throw mismatch([String: StoredValue].self) }
    return KeyedDecodingContainer(KeyedValues(fields: fields, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch([StoredValue].self) }
    return UnkeyedValues(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { SingleValue(decoder: self) }
}

extension ValueDecoder {
  fileprivate struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [String: StoredValue]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).value == .null }

    private func decoder(_ key: any CodingKey) throws -> ValueDecoder {
      guard let value = fields[key.stringValue] else {
        throw DecodingError.keyNotFound(
          key, .init(codingPath: codingPath, debugDescription: "There is no such field."))
      }
      return ValueDecoder(value: value, codingPath: codingPath + [key])
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      let decoder = try decoder(key)
      return try ValueDecoder.decode(type, from: decoder.value, path: decoder.codingPath)
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(PlainKey(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
  }

  fileprivate struct UnkeyedValues: UnkeyedDecodingContainer {
    let elements: [StoredValue]
    let codingPath: [any CodingKey]
    var currentIndex = 0
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(elements: [StoredValue], codingPath: [any CodingKey]) {
      (self.elements, self.codingPath) = (elements, codingPath)
    }

    /// The next element, which is only passed once the closure has made something of it.
    private mutating func next<Result>(
      _ type: Any.Type, _ body: (ValueDecoder) throws -> Result
    ) throws -> Result {
      let path = codingPath + [PlainKey(intValue: currentIndex)]
      guard !isAtEnd else {
        throw DecodingError.valueNotFound(
          type, .init(codingPath: path, debugDescription: "The array has no more elements."))
      }
      let result = try body(ValueDecoder(value: elements[currentIndex], codingPath: path))
      currentIndex += 1
      return result
    }

    mutating func decodeNil() -> Bool {
      guard !isAtEnd, elements[currentIndex] == .null else { return false }
      currentIndex += 1
      return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try next(type) { try ValueDecoder.decode(type, from: $0.value, path: $0.codingPath) }
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

    func decodeNil() -> Bool { decoder.value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
      guard case .bool(let value) = decoder.value else { throw decoder.mismatch(type) }
      return value
    }
    func decode(_ type: String.Type) throws -> String {
      guard case .string(let value) = decoder.value else { throw decoder.mismatch(type) }
      return value
    }
    func decode(_ type: Double.Type) throws -> Double {
      guard case .double(let value) = decoder.value else { throw decoder.mismatch(type) }
      return value
    }
    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
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
      try ValueDecoder.decode(type, from: decoder.value, path: codingPath)
    }

    private func number<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
      guard let number = decoder.value.integer(as: type) else { throw decoder.mismatch(type) }
      return number
    }
  }
}
