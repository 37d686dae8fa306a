public import FoundationEssentials

extension StoredValue {
  /// Encodes a value of any type.
  ///
  /// - Throws: ``ValueFailure``, or an error of the type's own `encode(to:)`.
  package init<Value: Encodable>(coding value: Value) throws {
    self = try Self.plain(value) ?? ValueEncoder.encode(value)
    guard depth <= ValueFormat.maximumDepth else { throw ValueFailure.tooDeep }
  }

  /// Converts a value whose type needs no encoder; nil for other types.
  ///
  /// It compares metatypes first, because casts are slow.
  @specialized(where Value == String)
  @specialized(where Value == Int)
  @specialized(where Value == Double)
  @specialized(where Value == Bool)
  @specialized(where Value == Data)
  @specialized(where Value == Date)
  package static func plain<Value>(_ value: Value) -> StoredValue? {
    let type = Value.self
    if type == String.self { return (value as? String).map { .string($0) } }
    if type == Int.self { return (value as? Int).map { .int(Int64($0)) } }
    if type == Double.self { return (value as? Double).map { .double($0) } }
    if type == Bool.self { return (value as? Bool).map { .bool($0) } }
    if type == Data.self { return (value as? Data).map { .data($0) } }
    if type == Date.self { return (value as? Date).map { .date($0) } }
    if type == StoredValue.self { return value as? StoredValue }
    return plainNumber(value)
  }

  /// Converts the other number types, as ``plain(_:)`` does.
  @inline(__always)
  private static func plainNumber<Value>(_ value: Value) -> StoredValue? {
    let type = Value.self
    if type == Int64.self { return (value as? Int64).map { .int($0) } }
    if type == Int32.self { return (value as? Int32).map { .int(Int64($0)) } }
    if type == Int16.self { return (value as? Int16).map { .int(Int64($0)) } }
    if type == Int8.self { return (value as? Int8).map { .int(Int64($0)) } }
    if type == UInt32.self { return (value as? UInt32).map { .int(Int64($0)) } }
    if type == UInt16.self { return (value as? UInt16).map { .int(Int64($0)) } }
    if type == UInt8.self { return (value as? UInt8).map { .int(Int64($0)) } }
    if type == Float.self {
      return (value as? Float).map { .double(Double(keepingBitsOf: $0)) }
    }
    return nil
  }

  /// Decodes a value of a type.
  ///
  /// - Throws: `DecodingError`, or an error of the type's own `init(from:)`.
  @specialized(where Value == String)
  @specialized(where Value == Int)
  @specialized(where Value == Double)
  @specialized(where Value == Bool)
  @specialized(where Value == Data)
  @specialized(where Value == Date)
  package func decode<Value: Decodable>(
    as type: Value.Type, fromPropertyList: Bool = false
  ) throws -> Value {
    let plain: Value? = plain()
    if let plain { return plain }
    return try ValueDecoder(self, fromPropertyList: fromPropertyList).decode(type)
  }

  /// Returns the value as a type that needs no decoder; nil for other types.
  ///
  /// Where the type is known, only one case is left of it.
  @inlinable
  package func plain<Value>() -> Value? {
    switch self {
    case .string(let string): Value.self == String.self ? string as? Value : nil
    case .int(let number): Value.self == Int.self ? Int(exactly: number) as? Value : other(number)
    case .double(let number): Value.self == Double.self ? number as? Value : nil
    case .bool(let bool): Value.self == Bool.self ? bool as? Value : nil
    case .data(let data): Value.self == Data.self ? data as? Value : nil
    case .date(let date): Value.self == Date.self ? date as? Value : nil
    default: Value.self == StoredValue.self ? self as? Value : nil
    }
  }
}

extension StoredValue {
  /// Converts the number to another integer type, if it fits.
  @inlinable
  func other<Value>(_ number: Int64) -> Value? {
    let type = Value.self
    if type == Int64.self { return number as? Value }
    if type == Int32.self { return Int32(exactly: number) as? Value }
    if type == Int16.self { return Int16(exactly: number) as? Value }
    if type == Int8.self { return Int8(exactly: number) as? Value }
    if type == UInt32.self { return UInt32(exactly: number) as? Value }
    if type == UInt16.self { return UInt16(exactly: number) as? Value }
    if type == UInt8.self { return UInt8(exactly: number) as? Value }
    return nil
  }
}

extension DecodingError {
  /// A description of the problem and its coding path, without any values.
  package var words: String {
    let context: Context
    let what: String
    switch self {
    case .typeMismatch(let type, let at): (what, context) = ("\(type) was expected", at)
    case .valueNotFound(let type, let at): (what, context) = ("\(type) was expected", at)
    case .keyNotFound(let key, let at): (what, context) = ("there is no \(key.stringValue)", at)
    case .dataCorrupted(let at): (what, context) = ("the value is not valid", at)
    @unknown default: return "it can't be decoded."
    }
    let path = context.codingPath.map(\.stringValue).joined(separator: ".")
    return path.isEmpty ? "\(what)." : "\(what) at \(path)."
  }
}
