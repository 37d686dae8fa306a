import FoundationEssentials

extension StoredValue {
  /// Encodes a value of any type.
  ///
  /// Complexity: linear in the value; text, numbers, dates and data are recognised at once, other types
  /// take their own coding.
  ///
  /// - Throws: ``KeyValueError`` with `notEncodable`, and what the type's own coding throws.
  public init<Value: Encodable>(encoding value: Value) throws {
    self = try Self.plain(value) ?? ValueEncoder.encode(value)
  }

  /// A value of one of the types that need no encoder; nil for one of another.
  ///
  /// Metatypes are compared first, because a cast takes long.
  @specialized(where Value == String)
  @specialized(where Value == Int)
  @specialized(where Value == Double)
  @specialized(where Value == Bool)
  @specialized(where Value == Data)
  @specialized(where Value == Date)
  static func plain<Value>(_ value: Value) -> StoredValue? {
    let type = Value.self
    if type == String.self { return (value as? String).map { .string($0) } }
    if type == Int.self { return (value as? Int).map { .int(Int64($0)) } }
    if type == Double.self { return (value as? Double).map { .double($0) } }
    if type == Bool.self { return (value as? Bool).map { .bool($0) } }
    if type == Data.self { return (value as? Data).map { .data($0) } }
    if type == Date.self { return (value as? Date).map { .date($0) } }
    if type == StoredValue.self { return value as? StoredValue }
    return nil
  }

  /// Makes a value of some type.
  ///
  /// A number is read by every integer type that it fits into, and by no other; `Double` and `Float`
  /// read what was put as one of the two.
  ///
  /// - Throws: ``KeyValueError`` with `typeMismatch`, and what the type's own coding throws.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    if let value: Value = plain() { return value }
    do {
      return try ValueDecoder.decode(type, from: self, path: [])
    } catch let error as DecodingError {
      throw KeyValueError(
        .typeMismatch, "It was asked for as \(type), and is \(kind): \(error.words)",
        underlying: error)
    }
  }

  @specialized(where Value == String)
  @specialized(where Value == Int)
  @specialized(where Value == Double)
  @specialized(where Value == Bool)
  @specialized(where Value == Data)
  @specialized(where Value == Date)
  private func plain<Value>() -> Value? {
    switch self {
    case .string(let string): Value.self == String.self ? string as? Value : nil
    case .int(let number): Value.self == Int.self ? Int(exactly: number) as? Value : nil
    case .double(let number): Value.self == Double.self ? number as? Value : nil
    case .bool(let bool): Value.self == Bool.self ? bool as? Value : nil
    case .data(let data): Value.self == Data.self ? data as? Value : nil
    case .date(let date): Value.self == Date.self ? date as? Value : nil
    default: Value.self == StoredValue.self ? self as? Value : nil
    }
  }
}

extension DecodingError {
  /// What is wrong and where, without any value.
  var words: String {
    let context: Context
    let what: String
    switch self {
    case .typeMismatch(let type, let at): (what, context) = ("\(type) was expected", at)
    case .valueNotFound(let type, let at): (what, context) = ("\(type) was expected", at)
    case .keyNotFound(let key, let at): (what, context) = ("there is no \(key.stringValue)", at)
    case .dataCorrupted(let at): (what, context) = ("the value makes no sense", at)
    @unknown default: return "it can't be decoded."
    }
    let path = context.codingPath.map(\.stringValue).joined(separator: ".")
    return path.isEmpty ? "\(what)." : "\(what) at \(path)."
  }
}
