import StoreEngine
import StoredObjectsCore

/// A condition for the objects of a class, as in `artist starts with "Joh" and seconds > 200`.
///
/// A comparison is a property, an operator and a value. `not` binds tighter than `and`, and `and`
/// tighter than `or`.
indirect enum WhereCondition: Sendable {
  case all([WhereCondition])
  case any([WhereCondition])
  case not(WhereCondition)
  case comparison(WhereProperty, Comparison, WhereValue)
  case oneOf(WhereProperty, [WhereValue])

  /// An operator of a comparison.
  enum Comparison: String, Sendable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case contains = "contains"
    case starts = "starts with"
  }
}

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

/// Parses a condition for a class.
struct WhereParser {
  /// The maximum number of comparisons, and of levels of parentheses.
  private static let comparisonLimit = 100
  private static let depthLimit = 50

  private let known: BrowsedClass
  private let tokens: [WhereToken]
  private var index = 0
  private var comparisonCount = 0

  /// Parses a condition.
  ///
  /// - Throws: ``BrowsingError`` with the position of the error.
  static func parse(
    _ source: String, for known: BrowsedClass
  ) throws(BrowsingError) -> WhereCondition {
    var parser = try WhereParser(source, known)
    let condition = try parser.alternatives(depth: 0)
    guard parser.token.kind == .end else {
      let several =
        parser.token.kind == .word ? "; a text of several words needs quotation marks" : ""
      throw parser.failure(
        "expected \"and\", \"or\" or the end, not \(parser.token.name)\(several)")
    }
    return condition
  }

  private init(_ source: String, _ known: BrowsedClass) throws(BrowsingError) {
    self.known = known
    var reader = WhereTokens(source)
    tokens = try reader.read()
  }

  private var token: WhereToken { tokens[index] }

  private func failure(_ message: String) -> BrowsingError { .query(token.position, message) }

  private mutating func take(_ keyword: String) -> Bool {
    guard token.isKeyword(keyword) else { return false }
    index += 1
    return true
  }

  private mutating func take(sign: String) -> Bool {
    guard token.kind == .sign, token.text == sign else { return false }
    index += 1
    return true
  }

  // MARK: Logic

  private mutating func alternatives(depth: Int) throws(BrowsingError) -> WhereCondition {
    var parts = [try conjunction(depth: depth)]
    while take("or") { parts.append(try conjunction(depth: depth)) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func conjunction(depth: Int) throws(BrowsingError) -> WhereCondition {
    var parts = [try factor(depth: depth)]
    while take("and") { parts.append(try factor(depth: depth)) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func factor(depth: Int) throws(BrowsingError) -> WhereCondition {
    guard depth < Self.depthLimit else {
      throw failure("there are more than \(Self.depthLimit) levels of parentheses and \"not\" here")
    }
    if take("not") { return .not(try factor(depth: depth + 1)) }
    guard take(sign: "(") else { return try comparison() }
    let inner = try alternatives(depth: depth + 1)
    guard take(sign: ")") else {
      throw failure("expected \"and\", \"or\" or \")\", not \(token.name)")
    }
    return inner
  }

  // MARK: Comparisons

  private mutating func comparison() throws(BrowsingError) -> WhereCondition {
    comparisonCount += 1
    guard comparisonCount <= Self.comparisonLimit else {
      throw failure(
        "there are more than \(Self.comparisonLimit) comparisons; \"in (…)\" is only one")
    }
    let property = try property()
    if take("in") { return .oneOf(property, try values(of: property)) }
    let start = index
    let comparison = try comparator()
    let isList = property.type.isListOfValues
    if comparison == .starts && !property.type.isText
      || comparison == .contains && !property.type.isText && !isList
    {
      index = start
      throw failure("the property is a \(property.type); compare it by = != < <= > >= or in")
    }
    let valueIndex = index
    let value = try value(of: property, comparison)
    if value == .none, comparison != .equal, comparison != .notEqual {
      index = valueIndex
      throw failure("none can be compared by = and != only")
    }
    return .comparison(property, comparison, value)
  }

  private mutating func property() throws(BrowsingError) -> WhereProperty {
    let names = known.properties.map(\.name)
    guard token.kind == .word || token.kind == .text else {
      throw failure("expected a property: \(Self.list(names)), not \(token.name)")
    }
    let text = token.text
    let found =
      known.property(text)
      ?? known.properties.first { $0.name.lowercased() == text.lowercased() }
    if let found {
      index += 1
      return .named(found.name, found.type)
    }
    guard text.lowercased() == "id" else {
      throw failure("there is no property \(token.name); there are: \(Self.list(names)), id")
    }
    index += 1
    return .rowID
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
  }

  private mutating func comparator() throws(BrowsingError) -> WhereCondition.Comparison {
    if take("contains") { return .contains }
    if take("starts") {
      guard take("with") else { throw failure("expected \"with\", not \(token.name)") }
      return .starts
    }
    guard token.kind == .sign, let comparison = WhereCondition.Comparison(rawValue: token.text)
    else {
      throw failure(
        "expected one of = != < <= > >= in, contains, and starts with, not \(token.name)")
    }
    index += 1
    return comparison
  }

  private mutating func values(of property: WhereProperty) throws(BrowsingError) -> [WhereValue] {
    guard take(sign: "(") else { throw failure("expected \"(\", not \(token.name)") }
    var values = [try value(of: property, .equal)]
    while take(sign: ",") { values.append(try value(of: property, .equal)) }
    guard take(sign: ")") else { throw failure("expected \",\" or \")\", not \(token.name)") }
    return values
  }

  private static let keywords: Set = ["and", "or", "not", "in", "contains", "starts"]

  private mutating func value(
    of property: WhereProperty, _ comparison: WhereCondition.Comparison
  ) throws(BrowsingError) -> WhereValue {
    let isWord = token.kind == .word
    guard isWord || token.kind == .text else {
      throw failure("expected a value, not \(token.name)")
    }
    if isWord, Self.keywords.contains(token.text.lowercased()) {
      throw failure("expected a value, not \(token.name); as a text it needs quotation marks")
    }
    if take("none") { return .none }
    let type = comparison == .contains ? property.type.elementType : property.type
    guard let value = WhereValue(token.text, as: type) else {
      throw failure("\(token.name) is not a \(type)\(WhereValue.hint(for: type))")
    }
    index += 1
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
