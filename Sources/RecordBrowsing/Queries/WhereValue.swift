import ConditionSyntax
import Foundation
import StoreEngine

/// A value that can be compared, from a condition or from a record.
enum WhereValue: Sendable, Equatable {
  case none
  case text(String)
  case integer(Int128)
  case number(Double)
  case bool(Bool)
  /// Seconds since 2001, from the first to before the second; a day is one value.
  case moment(Double, Double)
  case list([WhereValue])
  case other

  /// Parses a value of a type; nil if the text is none.
  init?(_ text: String, as type: StoredType) {
    switch type {
    case .optional(let wrapped): self.init(text, as: wrapped)
    case .string: self = .text(text)
    case .bool:
      switch text.lowercased() {
      case "true", "yes": self = .bool(true)
      case "false", "no": self = .bool(false)
      default: return nil
      }
    case .integer:
      let digits = text.hasPrefix("#") ? String(text.dropFirst()) : text
      if let number = Int128(digits) {
        self = .integer(number)
      } else if let number = Double(digits), number.isFinite {
        self = .number(number)
      } else {
        return nil
      }
    case .float, .double:
      guard let number = Double(text) else { return nil }
      self = .number(number)
    case .date:
      guard let range = Self.moments(text) else { return nil }
      self = .moment(range.lowerBound, range.upperBound)
    case .uuid:
      guard let id = UUID(uuidString: text) else { return nil }
      self = .text(id.uuidString)
    case .enumeration(let enumeration):
      let isKnown =
        enumeration.cases.isEmpty || enumeration.cases.contains { $0.name == text }
      guard isKnown else { return nil }
      self = enumeration.cases.isEmpty ? Self(text, as: enumeration.rawType) ?? .other : .text(text)
    case .reference(let name):
      let full = UInt32(text).map { "\(name)/\($0)" } ?? text
      guard ObjectAddress(full) != nil else { return nil }
      self = .text(full)
    case .anyReference:
      guard ObjectAddress(text) != nil else { return nil }
      self = .text(text)
    default: return nil
    }
  }

  /// Returns an example of a value, for messages.
  static func hint(for type: StoredType) -> String {
    switch type {
    case .optional(let wrapped): hint(for: wrapped)
    case .bool: "; write true or false"
    case .integer: "; write 42"
    case .float, .double: "; write 4.2"
    case .date: "; write 2026-11-25 or 2026-11-25T18:30:00Z"
    case .uuid: "; write it as E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    case .enumeration(let enumeration):
      "; there are: \(enumeration.cases.map(\.name).joined(separator: ", "))"
    case .reference(let name): "; write \(name)/42"
    case .anyReference: "; write Song/42"
    default: "; only = none and != none compare such values"
    }
  }

  /// Returns the seconds from the begin to the end of a day, a minute, or a moment.
  private static func moments(_ text: String) -> Range<Double>? {
    if let start = DateText.date(of: text + "T00:00:00Z")?.timeIntervalSinceReferenceDate {
      return start..<start + 86_400
    }
    if let start = DateText.date(of: text)?.timeIntervalSinceReferenceDate {
      return start..<start.nextUp
    }
    return nil
  }

  // MARK: Values of records

  /// Creates a value from a plain value of a record.
  init(_ value: StoredValue, _ type: StoredType) {
    switch (value, type) {
    case (.null, _): self = .none
    case (_, .optional(let wrapped)): self.init(value, wrapped)
    case (.string(let text), .date):
      let date = DateText.date(of: text)?.timeIntervalSinceReferenceDate
      self = date.map { .moment($0, $0) } ?? .other
    case (.double(let seconds), .date): self = .moment(seconds, seconds)
    case (.string(let text), _): self = .text(text)
    case (.int(let number), .float), (.int(let number), .double): self = .number(Double(number))
    case (.int(let number), _): self = .integer(Int128(number))
    case (.unsigned(let number), _): self = .integer(Int128(number))
    case (.double(let number), _): self = .number(number)
    case (.bool(let flag), _): self = .bool(flag)
    case (.array(let elements), _):
      let element = type.elementType
      self = .list(elements.map { WhereValue($0, element) })
    default: self = .other
    }
  }
}

extension ConditionOperator {
  /// Returns whether a value of a record compares so with a value of a condition.
  ///
  /// None is neither less nor greater than any value.
  func holds(_ left: WhereValue, _ right: WhereValue) -> Bool {
    switch self {
    case .equal: Self.areEqual(left, right)
    case .notEqual: !Self.areEqual(left, right)
    case .contains: Self.contains(left, right)
    case .starts: Self.starts(left, right)
    case .less: Self.order(left, right).map { $0 < 0 } ?? false
    case .lessOrEqual: Self.order(left, right).map { $0 <= 0 } ?? false
    case .greater: Self.order(left, right).map { $0 > 0 } ?? false
    case .greaterOrEqual: Self.order(left, right).map { $0 >= 0 } ?? false
    }
  }

  private static func areEqual(_ left: WhereValue, _ right: WhereValue) -> Bool {
    if case .list(let elements) = left, right == .none { return elements.isEmpty }
    if left == .none || right == .none { return left == right }
    return order(left, right) == 0
  }

  private static func contains(_ left: WhereValue, _ right: WhereValue) -> Bool {
    switch (left, right) {
    case (.text(let text), .text(let part)): part.isEmpty || text.contains(part)
    case (.list(let elements), _): elements.contains { areEqual($0, right) }
    default: false
    }
  }

  private static func starts(_ left: WhereValue, _ right: WhereValue) -> Bool {
    guard case .text(let text) = left, case .text(let start) = right else { return false }
    return text.utf8.starts(with: start.utf8)
  }

  /// Returns -1, 0 or 1; nil for values that have no order.
  ///
  /// Texts are in the order of their bytes, as in an index.
  private static func order(_ left: WhereValue, _ right: WhereValue) -> Int? {
    switch (left, right) {
    case (.text(let left), .text(let right)): left.utf8Order(right)
    case (.integer(let left), .integer(let right)): left < right ? -1 : left > right ? 1 : 0
    case (.integer(let left), .number(let right)): order(Double(left), right)
    case (.number(let left), .integer(let right)): order(left, Double(right))
    case (.number(let left), .number(let right)): order(left, right)
    case (.moment(let left, _), .moment(let start, let end)):
      left < start ? -1 : left >= end ? 1 : 0
    case (.bool(let left), .bool(let right)): left == right ? 0 : left ? 1 : -1
    default: nil
    }
  }

  private static func order(_ left: Double, _ right: Double) -> Int? {
    left < right ? -1 : left > right ? 1 : left == right ? 0 : nil
  }
}
