public import FoundationEssentials

/// A value of any type, as in a key-value store or a `Codable` property.
///
/// Most programs store and read their own types and never need it. Use it for values whose type is
/// not known in advance. It has literals:
///
///     try table.put(["title": "Ada", "tags": ["x", "y"], "stars": 5] as StoredValue, for: "a")
///     if case .dictionary(let fields)? = try table.value(for: "a") { print(fields.keys) }
///
/// Values may be nested to any depth: they are compared, printed and freed without recursion. Only
/// values nested at most 256 deep can be stored.
public enum StoredValue: Sendable {
  /// No value, as for a stored `nil`.
  case null
  /// True or false.
  case bool(Bool)
  /// An integer of any integer type.
  case int(Int64)
  /// An integer greater than `Int64.max`; others are always ``int(_:)``.
  case unsigned(UInt64)
  /// A floating-point number, including NaN and infinities.
  case double(Double)
  /// Text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A date, with the full precision of `Date`.
  case date(Date)
  /// Values in their order.
  case array(Elements)
  /// Values with names.
  case dictionary(Fields)

  /// Creates an array of values.
  ///
  /// Complexity: linear in the number of elements.
  public static func array(_ elements: [StoredValue]) -> StoredValue { .array(Elements(elements)) }

  /// Creates a dictionary of values.
  ///
  /// Complexity: O(n log n).
  public static func dictionary(_ fields: [String: StoredValue]) -> StoredValue {
    .dictionary(Fields(fields))
  }

  /// The kind of the value, for error messages.
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
  /// Creates `.null` from `nil`.
  public init(nilLiteral: ()) { self = .null }
  /// Creates a value from `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates a value from an integer literal.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// Creates a value from a floating-point literal.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Creates a value from a string literal.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an array from its elements.
  ///
  /// Complexity: linear in the number of elements.
  public init(arrayLiteral elements: StoredValue...) { self = .array(Elements(elements)) }
  /// Creates a dictionary; for a repeated name, the last value counts.
  ///
  /// Complexity: O(n log n).
  public init(dictionaryLiteral elements: (String, StoredValue)...) {
    self = .dictionary(Fields(elements))
  }
}

extension StoredValue {
  /// Creates a value from any integer of up to 64 bits.
  ///
  /// - Throws: ``ValueFailure`` for an integer out of that range.
  package init(_ number: some FixedWidthInteger) throws {
    if let small = Int64(exactly: number) {
      self = .int(small)
    } else if let large = UInt64(exactly: number) {
      self = .unsigned(large)
    } else {
      throw ValueFailure("The number \(number) does not fit into 64 bits.")
    }
  }

  /// Returns the number as another type; nil if the value is not an integer or does not fit.
  func integer<Number: FixedWidthInteger>(as type: Number.Type) -> Number? {
    switch self {
    case .int(let number): Number(exactly: number)
    case .unsigned(let number): Number(exactly: number)
    default: nil
    }
  }

  /// The number as a `Double`; nil if the value is not a number or would be rounded.
  var floatingPoint: Double? {
    switch self {
    case .double(let number): number
    case .int(let number): Double(exactly: number)
    case .unsigned(let number): Double(exactly: number)
    default: nil
    }
  }
}

/// An error about a value that can't be stored.
package struct ValueFailure: Error, CustomStringConvertible {
  /// A description of the problem, in a sentence.
  package let description: String
  /// The path of the part of the value, such as "[2].name"; empty for the whole value.
  package private(set) var path = ""

  package init(_ description: String) { self.description = description }

  /// Runs a closure on a part of a value, and adds the part to the path of its errors.
  static func inside(_ part: @autoclosure () -> String, _ body: () throws -> Void) throws {
    do { try body() } catch var failure as ValueFailure {
      failure.path = part() + failure.path
      throw failure
    }
  }

  /// Runs a closure on each element, and adds the index to the path of its errors.
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
