/// Parses the value of `--where`.
struct ExpressionParser {
  /// The maximum number of comparisons; planning more would take longer than the query.
  private static let comparisonLimit = 100
  private static let depthLimit = 50

  private let source: String
  private let tokens: [ExpressionToken]
  private var index = 0
  private var comparisonCount = 0

  /// Parses an expression.
  ///
  /// - Throws: ``Failure`` with the position of the error.
  static func parse(_ source: String) throws(Failure) -> Expression {
    var parser = try ExpressionParser(source)
    let expression = try parser.alternatives(depth: 0)
    guard parser.token.kind == .end else {
      let several =
        parser.token.kind == .word ? "; a text of several words needs quotation marks" : ""
      throw parser.failure(
        "expected \"and\", \"or\" or the end, not \(parser.token.name)\(several)")
    }
    return expression
  }

  private init(_ source: String) throws(Failure) {
    self.source = source
    var reader = ExpressionTokens(source)
    tokens = try reader.read()
  }

  private var token: ExpressionToken { tokens[index] }

  private func failure(_ message: String) -> Failure {
    Failure(of: source, at: token.position, message)
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

  private mutating func alternatives(depth: Int) throws(Failure) -> Expression {
    var parts = [try conjunction(depth: depth)]
    while take("or") { parts.append(try conjunction(depth: depth)) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func conjunction(depth: Int) throws(Failure) -> Expression {
    var parts = [try factor(depth: depth)]
    while take("and") { parts.append(try factor(depth: depth)) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func factor(depth: Int) throws(Failure) -> Expression {
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

  private mutating func comparison() throws(Failure) -> Expression {
    comparisonCount += 1
    guard comparisonCount <= Self.comparisonLimit else {
      throw failure(
        "there are more than \(Self.comparisonLimit) comparisons; \"in (…)\" is only one")
    }
    let attribute = try attribute()
    if take("in") { return .oneOf(attribute, try values(of: attribute)) }
    let start = index
    let comparison = try comparator()
    if [.contains, .starts].contains(comparison), !attribute.isText {
      index = start
      throw failure("\(attribute.rawValue) is a number; compare it by = != < <= > >= or in")
    }
    let valueIndex = index
    let value = try value(of: attribute)
    if value == .none, comparison != .equal, comparison != .notEqual {
      index = valueIndex
      throw failure("none can be compared by = and != only")
    }
    return .comparison(attribute, comparison, value)
  }

  private mutating func attribute() throws(Failure) -> SongAttribute {
    guard token.kind == .word, let attribute = SongAttribute(token.text) else {
      let near =
        token.kind == .word
        ? namesMeant(by: token.text, SongAttribute.allCases.map(\.rawValue)) : nil
      let hint = near.map { "; did you mean \($0)" } ?? ""
      throw failure("expected one of \(SongAttribute.names), not \(token.name)\(hint)")
    }
    index += 1
    return attribute
  }

  private mutating func comparator() throws(Failure) -> Expression.Comparison {
    if take("contains") { return .contains }
    if take("starts") {
      guard take("with") else { throw failure("expected \"with\", not \(token.name)") }
      return .starts
    }
    guard token.kind == .sign, let comparison = Expression.Comparison(rawValue: token.text) else {
      throw failure(
        """
        expected one of = != < <= > >= in, contains, and starts with, not \(token.name)
        """)
    }
    index += 1
    return comparison
  }

  private mutating func values(of attribute: SongAttribute) throws(Failure) -> [Expression.Value] {
    guard take(sign: "(") else { throw failure("expected \"(\", not \(token.name)") }
    var values = [try value(of: attribute)]
    while take(sign: ",") { values.append(try value(of: attribute)) }
    guard take(sign: ")") else { throw failure("expected \",\" or \")\", not \(token.name)") }
    return values
  }

  private static let keywords: Set = ["and", "or", "not", "in", "contains", "starts"]

  private mutating func value(of attribute: SongAttribute) throws(Failure) -> Expression.Value {
    let isWord = token.kind == .word
    guard isWord || token.kind == .text else {
      throw failure("expected a value, not \(token.name)")
    }
    if isWord, Self.keywords.contains(token.text.lowercased()) {
      throw failure("expected a value, not \(token.name); as a text it needs quotation marks")
    }
    if attribute != .id, take("none") { return .none }
    let value: Expression.Value
    switch attribute {
    case .id: value = .number(try number())
    case .time: value = .time(try seconds())
    default: value = .text(token.text)
    }
    index += 1
    return value
  }

  private func number() throws(Failure) -> Int64 {
    let digits = token.text.hasPrefix("#") ? token.text.dropFirst() : token.text[...]
    guard let number = Int64(digits) else {
      throw failure("\(token.name) is not an ID; write 42 or #42")
    }
    return number
  }

  /// Parses a time: seconds, minutes and seconds, or hours, minutes and seconds.
  private func seconds() throws(Failure) -> Int64 {
    let parts = token.text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in
      part.allSatisfy { "0"..."9" ~= $0 } && part.count < 10 ? Int64(part) : nil
    }
    guard !numbers.isEmpty, numbers.count == parts.count, numbers.count <= 3 else {
      throw failure("\(token.name) is not a time; write 210, 3:30 or 1:03:30")
    }
    return numbers.reduce(0) { $0 * 60 + $1 }
  }
}
