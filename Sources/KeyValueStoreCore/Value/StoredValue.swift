public import FoundationEssentials

/// A value of a key-value store, whatever it is.
///
/// Most programs put and get their own types and never see one. It is there for values whose type
/// isn't known beforehand, and has literals:
///
///     try table.put(["title": "Ada", "tags": ["x", "y"], "stars": 5] as StoredValue, for: "a")
///     if case .dictionary(let fields)? = try table.value(for: "a") { print(fields.keys) }
public enum StoredValue: Hashable, Sendable {
  /// No value, as of a `nil` that was put.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number, of any integer type.
  case int(Int64)
  /// A whole number that is larger than `Int64.max`; others are always ``int(_:)``.
  case unsigned(UInt64)
  /// A number in floating point, NaN and infinities included.
  case double(Double)
  /// Text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A moment, to the last bit of a `Date`.
  case date(Date)
  /// Values in their order.
  case array([StoredValue])
  /// Values by names, in no order.
  case dictionary([String: StoredValue])

  /// What kind of value it is, in words for an error.
  var kind: String {
    switch self {
    case .null: "nil"
    case .bool: "a Bool"
    case .int, .unsigned: "a whole number"
    case .double: "a Double"
    case .string: "a String"
    case .data: "Data"
    case .date: "a Date"
    case .array: "an array"
    case .dictionary: "a dictionary"
    }
  }
}

extension StoredValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// `nil`.
  public init(nilLiteral: ()) { self = .null }
  /// `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A number with a fraction.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Values in their order.
  public init(arrayLiteral elements: StoredValue...) { self = .array(elements) }
  /// Values by names; of a name that comes twice the last one counts.
  public init(dictionaryLiteral elements: (String, StoredValue)...) {
    self = .dictionary(Dictionary(elements) { _, last in last })
  }
}

extension StoredValue {
  /// Any whole number.
  init(_ number: some FixedWidthInteger) throws {
    if let small = Int64(exactly: number) {
      self = .int(small)
    } else if let large = UInt64(exactly: number) {
      self = .unsigned(large)
    } else {
      throw KeyValueError(.notEncodable, "The number \(number) does not fit into 64 bits.")
    }
  }

  /// The number as another type; nil when it is none, or does not fit.
  func integer<Number: FixedWidthInteger>(as type: Number.Type) -> Number? {
    switch self {
    case .int(let number): Number(exactly: number)
    case .unsigned(let number): Number(exactly: number)
    default: nil
    }
  }
}

extension StoredValue: Codable {
  /// Reads a value from any decoder, such as one of JSON.
  public init(from decoder: any Decoder) throws {
    if let own = decoder as? ValueDecoder {
      self = own.value
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([StoredValue].self) {
      self = .array(value)
    } else {
      self = .dictionary(try container.decode([String: StoredValue].self))
    }
  }

  /// Writes the value to any encoder, such as one of JSON.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .dictionary(let value): try container.encode(value)
    }
  }
}
