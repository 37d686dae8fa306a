/// Parses a condition.
package struct ConditionParser<Vocabulary: ConditionVocabulary> {
  package typealias Result = Condition<Vocabulary.Attribute, Vocabulary.Value>

  /// The maximum number of comparisons; planning more would take longer than the query.
  private static var comparisonLimit: Int { 100 }
  private static var depthLimit: Int { 50 }

  private let vocabulary: Vocabulary
  private let tokens: [ConditionToken]
  private var index = 0
  private var comparisonCount = 0

  /// Parses the text of a condition.
  ///
  /// - Parameters:
  ///   - source: The text.
  ///   - vocabulary: The attributes and values that the condition can have.
  /// - Returns: The condition.
  /// - Throws: ``ConditionError`` with the position of the error.
  package static func parse(
    _ source: String, _ vocabulary: Vocabulary
  ) throws(ConditionError) -> Result {
    var parser = try ConditionParser(source, vocabulary)
    let condition = try parser.alternatives(depth: 0)
    guard parser.token.kind == .end else {
      let several =
        parser.token.kind == .word ? "; a text of several words needs quotation marks" : ""
      throw parser.failure("expected \"and\", \"or\" or the end, not \(parser.name)\(several)")
    }
    return condition
  }

  private init(_ source: String, _ vocabulary: Vocabulary) throws(ConditionError) {
    self.vocabulary = vocabulary
    var reader = ConditionTokens(source)
    tokens = try reader.read()
  }

  private var token: ConditionToken { tokens[index] }
  private var name: String { vocabulary.name(of: token) }

  private func failure(_ message: String) -> ConditionError {
    ConditionError(at: token.position, message)
  }

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

  private mutating func alternatives(depth: Int) throws(ConditionError) -> Result {
    var parts = [try conjunction(depth: depth)]
    while take("or") { parts.append(try conjunction(depth: depth)) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func conjunction(depth: Int) throws(ConditionError) -> Result {
    var parts = [try factor(depth: depth)]
    while take("and") { parts.append(try factor(depth: depth)) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func factor(depth: Int) throws(ConditionError) -> Result {
    guard depth < Self.depthLimit else {
      throw failure("there are more than \(Self.depthLimit) levels of parentheses and \"not\" here")
    }
    if take("not") { return .not(try factor(depth: depth + 1)) }
    guard take(sign: "(") else { return try comparison() }
    let inner = try alternatives(depth: depth + 1)
    guard take(sign: ")") else {
      throw failure("expected \"and\", \"or\" or \")\", not \(name)")
    }
    return inner
  }

  // MARK: Comparisons

  private mutating func comparison() throws(ConditionError) -> Result {
    comparisonCount += 1
    guard comparisonCount <= Self.comparisonLimit else {
      throw failure(
        "there are more than \(Self.comparisonLimit) comparisons; \"in (…)\" is only one")
    }
    let attribute = try vocabulary.attribute(token)
    index += 1
    if take("in") { return .oneOf(attribute, try values(of: attribute)) }
    let operatorToken = token
    let comparison = try comparator()
    if let refusal = vocabulary.refusal(of: comparison, for: attribute) {
      throw ConditionError(at: operatorToken.position, refusal)
    }
    let valueToken = token
    let value = try value(of: attribute, comparison)
    if value == vocabulary.none, comparison != .equal, comparison != .notEqual {
      throw ConditionError(at: valueToken.position, "none can be compared by = and != only")
    }
    return .comparison(attribute, comparison, value)
  }

  private mutating func comparator() throws(ConditionError) -> ConditionOperator {
    if take("contains") { return .contains }
    if take("starts") {
      guard take("with") else { throw failure("expected \"with\", not \(name)") }
      return .starts
    }
    guard token.kind == .sign, let comparison = ConditionOperator(rawValue: token.text) else {
      throw failure("expected one of = != < <= > >= in, contains, and starts with, not \(name)")
    }
    index += 1
    return comparison
  }

  private mutating func values(
    of attribute: Vocabulary.Attribute
  ) throws(ConditionError) -> [Vocabulary.Value] {
    guard take(sign: "(") else { throw failure("expected \"(\", not \(name)") }
    var values = [try value(of: attribute, .equal)]
    while take(sign: ",") { values.append(try value(of: attribute, .equal)) }
    guard take(sign: ")") else { throw failure("expected \",\" or \")\", not \(name)") }
    return values
  }

  private static var keywords: Set<String> { ["and", "or", "not", "in", "contains", "starts"] }

  private mutating func value(
    of attribute: Vocabulary.Attribute, _ comparison: ConditionOperator
  ) throws(ConditionError) -> Vocabulary.Value {
    let isWord = token.kind == .word
    guard isWord || token.kind == .text else {
      throw failure("expected a value, not \(name)")
    }
    if isWord, Self.keywords.contains(token.text.lowercased()) {
      throw failure("expected a value, not \(name); as a text it needs quotation marks")
    }
    if vocabulary.canBeMissing(attribute), take("none") { return vocabulary.none }
    let value = try vocabulary.value(token, of: attribute, comparison)
    index += 1
    return value
  }
}
