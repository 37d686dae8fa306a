import Foundation
package import StoreEngine

extension StoredType {
  /// Returns the value of a text that a user has typed, in the form of JSON.
  ///
  /// - Throws: ``BrowsingError`` with `invalid` for a text that is no value of the type.
  package func value(ofText text: String, property: String) throws(BrowsingError) -> StoredValue {
    if let value = parsed(text) { return value }
    throw BrowsingError(
      .invalid,
      "\(property): \"\(text.prefix(60))\" is not a \(self)\(WhereValue.hint(for: self)).")
  }

  private func parsed(_ text: String) -> StoredValue? {
    let word = text.trimmingCharacters(in: .whitespacesAndNewlines)
    switch self {
    case .optional(let wrapped): return wrapped.parsed(text)
    case .string: return .string(text)
    case .bool, .integer, .float, .double, .uuid: return number(word)
    case .date:
      if DateText.date(of: word) != nil { return .string(word) }
      let day = word + "T00:00:00Z"
      return DateText.date(of: day) == nil ? nil : .string(day)
    case .enumeration(let enumeration):
      return enumeration.cases.isEmpty ? enumeration.rawType.parsed(text) : .string(word)
    case .reference(let name):
      if let row = UInt32(word) { return .string("\(name)/\(row)") }
      return ObjectAddress(word) == nil ? nil : .string(word)
    case .anyReference: return ObjectAddress(word) == nil ? nil : .string(word)
    case .data: return Data(base64Encoded: word) == nil ? nil : .string(word)
    case .references, .referenceSet, .anyReferences, .anyReferenceSet, .array, .set, .dictionary,
      .codable:
      return try? JSONReader.value(in: text)
    case .external, .custom: return nil
    }
  }

  private func number(_ word: String) -> StoredValue? {
    switch (self, WhereValue(word, as: self)) {
    case (.integer, .integer(let number)): try? StoredValue(number)
    case (.integer, _): nil
    case (_, .number(let number)): number.isFinite ? .double(number) : .string(word)
    case (_, .bool(let flag)): .bool(flag)
    case (_, .text(let text)): .string(text)
    default: nil
    }
  }
}
