import FoundationEssentials
import StoreEngine

// Comparisons of a property with a value, which an index may answer.

/// Returns the start of the NaN keys, after all other numbers; nil for types without NaN.
func startOfNaN(_ value: Any) -> [UInt8]? {
  switch value {
  case is Double, is Date: IndexKey(Double.nan).bytes
  case is Float: IndexKey(Float.nan).bytes
  default: nil
  }
}

/// Returns the range of NaN dates if the value is a date, or no range for another type.
///
/// In Swift, a NaN date is not before any date, so both `>=` and `<=` hold: it is on both sides of
/// every other date.
func nanOfDates(_ value: Any) -> [KeyRange] {
  guard value is Date, let start = startOfNaN(value) else { return [] }
  return [KeyRange(from: start)]
}

extension QueryTranslation {
  /// Returns the term of two expressions with an operator between them.
  func joined<Left: PredicateExpression, Right: PredicateExpression, Output>(
    _ left: Left, _ right: Right, _ sign: String,
    _ combine: @escaping (Left.Output, Left.Output) -> Output
  ) -> QueryTerm<Object, Output> where Left.Output == Right.Output {
    let (left, right) = (term(of: left), term(of: right))
    let (one, other) = (left.read, right.read)
    return QueryTerm(
      read: { try combine(one($0), other($0)) },
      text: "(\(left.text) \(sign) \(right.text))")
  }

  /// Returns the term of a comparison.
  ///
  /// `ranges` returns the values that a property may have so that its comparison with a value
  /// holds, or nil if no index can decide it. The value is the left operand if `isFlipped` is true.
  fileprivate func compared<Left: PredicateExpression, Right: PredicateExpression>(
    _ left: Left, _ right: Right, _ sign: String,
    _ compare: @escaping (Left.Output, Left.Output) -> Bool,
    ranges: (Left.Output, _ key: [UInt8], _ isFlipped: Bool) -> KeyRanges?
  ) -> QueryTerm<Object, Bool> where Left.Output == Right.Output {
    let (left, right) = (term(of: left), term(of: right))
    let (one, other) = (left.read, right.read)
    var condition = Condition.other
    if let (property, value, isFlipped) = left.pair(right), let key = key(of: value),
      let ranges = ranges(value, key, isFlipped)
    {
      condition = property.condition(ranges) {
        isFlipped ? compare(value, $0) : compare($0, value)
      }
    }
    return QueryTerm(
      read: { try compare(one($0), other($0)) }, condition: condition,
      text: "\(left.text) \(sign) \(right.text)")
  }
}

extension PredicateExpressions.Equal: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    translation.compared(lhs, rhs, "==", { $0 == $1 }) { value, key, _ in
      Self.ranges(value, key)
    }
  }

  private static func ranges(_ value: LHS.Output, _ key: [UInt8]) -> KeyRanges {
    // NaN is not equal to itself.
    value != value ? KeyRanges.none : KeyRanges(point: key)
  }

  func simpleCondition(about variable: PredicateExpressions.VariableID) -> Condition? {
    StoredObjectsCore.simpleCondition(lhs, rhs, about: variable) { Self.ranges($0, $1) }
  }
}

extension PredicateExpressions.NotEqual: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    translation.compared(lhs, rhs, "!=", { $0 != $1 }) { value, key, _ in
      value != value ? KeyRanges.all : KeyRanges(point: key).complement
    }
  }
}

extension PredicateExpressions.Comparison: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (sign, compare): (String, (LHS.Output, LHS.Output) -> Bool)
    switch op {
    case .lessThan: (sign, compare) = ("<", { $0 < $1 })
    case .lessThanOrEqual: (sign, compare) = ("<=", { $0 <= $1 })
    case .greaterThan: (sign, compare) = (">", { $0 > $1 })
    case .greaterThanOrEqual: (sign, compare) = (">=", { $0 >= $1 })
    @unknown default: return translation.evaluated(self)
    }
    return translation.compared(lhs, rhs, sign, compare, ranges: ranges)
  }

  func simpleCondition(about variable: PredicateExpressions.VariableID) -> Condition? {
    switch op {
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      StoredObjectsCore.simpleCondition(lhs, rhs, about: variable) { ranges($0, $1, false) }
    @unknown default: nil
    }
  }

  /// Returns the values that a property may have so that its comparison with a value holds.
  ///
  /// The value is the left operand if `isFlipped` is true.
  private func ranges(_ value: LHS.Output, _ key: [UInt8], _ isFlipped: Bool) -> KeyRanges? {
    let behind = KeyRange.end(ofPrefix: key)
    let nan = startOfNaN(value)
    let withNaN = nanOfDates(value)
    switch (op, isFlipped) {
    case (.lessThan, false), (.greaterThan, true):
      return value != value ? KeyRanges.none : KeyRanges([KeyRange(to: key)])
    case (.lessThanOrEqual, false), (.greaterThanOrEqual, true):
      if value != value { return withNaN.isEmpty ? KeyRanges.none : .all }
      return KeyRanges([KeyRange(to: behind)] + withNaN)
    case (.greaterThan, false), (.lessThan, true):
      guard value == value, let behind else { return KeyRanges.none }
      return KeyRanges([KeyRange(from: behind, to: nan)])
    default:
      if value != value { return withNaN.isEmpty ? KeyRanges.none : .all }
      return KeyRanges([KeyRange(from: key, to: nan)] + withNaN)
    }
  }
}
