import Foundation

extension PropertyValue {
  /// Creates a value from one parsed by Foundation; nil for a type outside of property lists.
  init?(parsed value: Any) {
    switch value {
    case let value as String: self = .string(value)
    case let value as Date: self = .date(value)
    case let value as Data: self = .data(value)
    case let value as NSNumber: self = Self.number(value)
    case let values as [Any]: self = .array(values.compactMap(PropertyValue.init(parsed:)))
    case let values as [String: Any]: self = .dictionary(Self.dictionary(values))
    default: return nil
    }
  }

  /// Returns the values of a dictionary, without types outside of property lists.
  static func dictionary(_ values: [String: Any]) -> [String: PropertyValue] {
    values.compactMapValues(PropertyValue.init(parsed:))
  }

  /// Returns a number by its C type, because a cast would turn any 1 into `true`.
  private static func number(_ number: NSNumber) -> PropertyValue {
    switch UnicodeScalar(UInt8(bitPattern: unsafe number.objCType.pointee)) {
    case "c", "B": .bool(number.boolValue)
    case "d", "f": .real(number.doubleValue)
    default:
      if let integer = number as? Int64 {
        .integer(integer)
      } else {
        .unsigned(number.uint64Value)
      }
    }
  }
}

extension PropertyValue {
  /// The integer, also from a text, because some tools write IDs as text.
  var id: Int64? {
    switch self {
    case .integer(let value): value
    case .string(let text): Int64(text)
    default: nil
    }
  }
}

extension [String: PropertyValue] {
  /// Removes and returns a text; a value of another type stays.
  mutating func takeString(_ key: String) -> String? {
    guard case .string(let text) = self[key] else { return nil }
    self[key] = nil
    return text
  }

  /// Removes and returns an integer; a value of another type stays.
  mutating func takeInteger(_ key: String) -> Int64? {
    guard case .integer(let value) = self[key] else { return nil }
    self[key] = nil
    return value
  }
}
