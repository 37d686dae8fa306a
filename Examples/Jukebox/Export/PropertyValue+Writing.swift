import Foundation

extension PropertyValue {
  /// The years that an XML property list can write with four digits, from the year 1.
  private static let writableDates =
    Date(timeIntervalSince1970: -62_135_596_800)...Date(timeIntervalSince1970: 253_402_300_799)

  /// The value for Foundation; nil for a value that an XML property list can't have.
  var propertyList: Any? {
    switch self {
    case .bool(let value): value
    case .integer(let value): value
    case .unsigned(let value): value
    case .real(let value): value
    case .string(let value): value.forXML
    case .date(let value): Self.writableDates.contains(value) ? value : nil
    case .data(let value): value
    case .array(let values): values.compactMap(\.propertyList)
    case .dictionary(let values): Self.propertyList(values)
    }
  }

  /// Returns a dictionary for Foundation.
  static func propertyList(_ values: [String: PropertyValue]) -> [String: Any] {
    var result: [String: Any] = [:]
    for (key, value) in values { result[key.forXML] = value.propertyList }
    return result
  }
}

extension String {
  /// The text with U+FFFD in place of each character that XML does not allow.
  fileprivate var forXML: String {
    guard unicodeScalars.contains(where: { !$0.isAllowedInXML }) else { return self }
    return unicodeScalars.reduce(into: "") { $0 += $1.isAllowedInXML ? String($1) : "\u{FFFD}" }
  }
}

extension Unicode.Scalar {
  fileprivate var isAllowedInXML: Bool {
    switch value {
    case 0x9, 0xA, 0xD, 0x20...0xFFFD, 0x10000...: true
    default: false
    }
  }
}
