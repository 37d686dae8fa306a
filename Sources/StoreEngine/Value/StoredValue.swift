public import FoundationEssentials

/// A value of a key-value store or of a `Codable` property, of any type.
///
/// Most programs put and get their own types and never see one. Use it for values whose type isn't
/// known beforehand. It has literals:
///
///     try table.put(["title": "Ada", "tags": ["x", "y"], "stars": 5] as StoredValue, for: "a")
///     if case .dictionary(let fields)? = try table.value(for: "a") { print(fields.keys) }
///
/// Values can be nested at any depth without harm: they are compared, printed and freed without
/// recursion. Only values that are nested at most 256 deep can be stored.
public enum StoredValue: Sendable {
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
  case array(Elements)
  /// Values by names.
  case dictionary(Fields)

  /// Makes an array of values.
  public static func array(_ elements: [StoredValue]) -> StoredValue { .array(Elements(elements)) }

  /// Makes a dictionary of values.
  public static func dictionary(_ fields: [String: StoredValue]) -> StoredValue {
    .dictionary(Fields(fields))
  }

  /// The kind of the value, in words for an error.
  package var kind: String {
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
  public init(arrayLiteral elements: StoredValue...) { self = .array(Elements(elements)) }
  /// Values by names; the last one counts for a name that occurs twice.
  public init(dictionaryLiteral elements: (String, StoredValue)...) {
    self = .dictionary(Fields(elements))
  }
}

extension StoredValue {
  /// Any whole number of up to 64 bits.
  ///
  /// - Throws: ``ValueFailure`` for a larger one.
  package init(_ number: some FixedWidthInteger) throws {
    if let small = Int64(exactly: number) {
      self = .int(small)
    } else if let large = UInt64(exactly: number) {
      self = .unsigned(large)
    } else {
      throw ValueFailure("The number \(number) does not fit into 64 bits.")
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

  /// The number in floating point; nil when it is none, or would be rounded.
  var floatingPoint: Double? {
    switch self {
    case .double(let number): number
    case .int(let number): Double(exactly: number)
    case .unsigned(let number): Double(exactly: number)
    default: nil
    }
  }
}

/// A value that can't be stored, and why.
package struct ValueFailure: Error, CustomStringConvertible {
  /// The problem, in a sentence.
  package let description: String
  /// The part of the value, as in "[2].name"; empty for all of it.
  package private(set) var path = ""

  package init(_ description: String) { self.description = description }

  /// Runs a closure that is about a part of a value, and adds the part to its failures.
  static func inside(_ part: @autoclosure () -> String, _ body: () throws -> Void) throws {
    do { try body() } catch var failure as ValueFailure {
      failure.path = part() + failure.path
      throw failure
    }
  }

  /// Runs a closure on each element, and adds the index to its failures.
  static func forEach<Element>(
    _ elements: some Sequence<Element>, _ body: (Element) throws -> Void
  ) throws {
    for (index, element) in elements.enumerated() {
      try inside("[\(index)]") { try body(element) }
    }
  }

  static let tooDeep = ValueFailure(
    "Values are nested more than \(ValueFormat.maximumDepth) deep.")
}
