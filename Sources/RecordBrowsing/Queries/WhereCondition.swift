import ConditionSyntax
import StoreEngine
import StoredObjectsCore

/// A condition for the objects of a class, as in `artist starts with "Joh" and seconds > 200`.
typealias WhereCondition = Condition<WhereProperty, WhereValue>

/// A property in a condition; `id` is the row ID of a class without a property of that name.
enum WhereProperty: Hashable, Sendable {
  case rowID
  case named(String, StoredType)

  var type: StoredType {
    switch self {
    case .rowID: .integer(bitCount: 32, isSigned: false)
    case .named(_, let type): type
    }
  }
}

extension WhereCondition {
  /// Parses a condition for a class.
  ///
  /// - Throws: ``BrowsingError`` with the position of the error.
  init(_ source: String, for known: BrowsedClass) throws(BrowsingError) {
    do throws(ConditionError) {
      self = try ConditionParser.parse(source, ClassVocabulary(known: known))
    } catch {
      throw BrowsingError(error)
    }
  }
}

extension BrowsingError {
  /// Creates the error of a condition, with the position of the error in characters.
  fileprivate init(_ error: ConditionError) {
    self.init(.invalid, "At character \(error.position + 1) of the condition: \(error.message).")
    position = error.position
  }
}

/// The properties of a class, and their values.
private struct ClassVocabulary: ConditionVocabulary {
  let known: BrowsedClass

  var none: WhereValue { .none }

  func quoted(_ text: String) -> String { "\"\(text.prefix(60))\"" }

  func attribute(_ token: ConditionToken) throws(ConditionError) -> WhereProperty {
    let names = known.properties.map(\.name)
    guard token.kind == .word || token.kind == .text else {
      throw ConditionError(
        at: token.position, "expected a property: \(Self.list(names)), not \(name(of: token))")
    }
    let text = token.text
    let found =
      known.property(text)
      ?? known.properties.first { $0.name.lowercased() == text.lowercased() }
    if let found { return .named(found.name, found.type) }
    guard text.lowercased() == "id" else {
      throw ConditionError(
        at: token.position,
        "there is no property \(name(of: token)); there are: \(Self.list(names)), id")
    }
    return .rowID
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
  }

  func refusal(of comparison: ConditionOperator, for property: WhereProperty) -> String? {
    let type = property.type
    let isPossible =
      switch comparison {
      case .starts: type.isText
      case .contains: type.isText || type.isListOfValues
      default: true
      }
    return isPossible ? nil : "the property is a \(type); compare it by = != < <= > >= or in"
  }

  func canBeMissing(_ property: WhereProperty) -> Bool { true }

  func value(
    _ token: ConditionToken, of property: WhereProperty, _ comparison: ConditionOperator
  ) throws(ConditionError) -> WhereValue {
    let type = comparison == .contains ? property.type.elementType : property.type
    guard let value = WhereValue(token.text, as: type) else {
      throw ConditionError(
        at: token.position, "\(name(of: token)) is not a \(type)\(WhereValue.hint(for: type))")
    }
    return value
  }
}

extension StoredType {
  /// Whether values are lists whose elements can be compared.
  var isListOfValues: Bool {
    switch self {
    case .optional(let wrapped): wrapped.isListOfValues
    case .array, .set, .references, .referenceSet, .anyReferences, .anyReferenceSet: true
    default: false
    }
  }

  /// The type of the elements of a list; the type itself for any other type.
  var elementType: StoredType {
    switch self {
    case .optional(let wrapped): wrapped.elementType
    case .array(let element), .set(let element): element
    case .references(let name), .referenceSet(let name): .reference(name)
    case .anyReferences, .anyReferenceSet: .anyReference
    default: self
    }
  }
}
