import FoundationEssentials

// Comparisons of a property with a value, which an index may answer.

/// The bytes of a value in an index; nil for one that no index can have.
///
/// By the type, and not by the value: an optional is not what it wraps.
func indexKey<Value>(_ value: Value) -> [UInt8]? {
  func key<Known: IndexableValue>(_: Known.Type) -> [UInt8]? {
    (value as? Known).map { IndexKey($0).bytes }
  }
  return (Value.self as? any IndexableValue.Type).flatMap { key($0) }
}

/// Where NaN begins, behind all other numbers; nil for types that have none.
///
/// A date that is NaN is not before another, and so `>=` and `<=` it, as Swift has it: it is on both
/// sides of every other.
func startOfNaN(_ value: Any) -> [UInt8]? {
  switch value {
  case is Double, is Date: IndexKey(Double.nan).bytes
  case is Float: IndexKey(Float.nan).bytes
  default: nil
  }
}

extension QueryTerm {
  /// The property and the value, where one side is the one and the other side the other.
  fileprivate func pair(
    _ other: QueryTerm<Object, Output>
  ) -> (property: AnyKeyPath, value: Output, isFlipped: Bool)? {
    switch (kind, other.kind) {
    case (.property(let property), .constant(let value)): (property, value, false)
    case (.constant(let value), .property(let property)): (property, value, true)
    default: nil
    }
  }
}

extension QueryTranslation {
  /// Two parts with an operator between them.
  ///
  /// `condition` says what an index may make of a property and a value, of which the latter may stand
  /// on the left.
  func joined<Left: PredicateExpression, Right: PredicateExpression, Output>(
    _ left: Left, _ right: Right, _ sign: String,
    _ combine: @escaping (Left.Output, Left.Output) -> Output,
    condition: (AnyKeyPath, Left.Output, Bool) -> Condition? = { _, _, _ in nil }
  ) -> QueryTerm<Object, Output> where Left.Output == Right.Output {
    let (left, right) = (term(of: left), term(of: right))
    let (one, other) = (left.read, right.read)
    return QueryTerm(
      read: { try combine(one($0), other($0)) },
      condition: left.pair(right).flatMap(condition) ?? .other,
      text: Output.self == Bool.self
        ? "\(left.text) \(sign) \(right.text)" : "(\(left.text) \(sign) \(right.text))")
  }
}

extension PredicateExpressions.Equal: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    translation.joined(lhs, rhs, "==", { $0 == $1 }) { property, value, _ in
      // NaN is not equal to itself.
      indexKey(value).map {
        .values(property, value != value ? .none : KeyRanges(point: $0))
      }
    }
  }
}

extension PredicateExpressions.NotEqual: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    translation.joined(lhs, rhs, "!=", { $0 != $1 }) { property, value, _ in
      indexKey(value).map {
        .values(property, value != value ? .all : KeyRanges(point: $0).complement)
      }
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
    return translation.joined(lhs, rhs, sign, compare) { property, value, isFlipped in
      ranges(value, isFlipped).map { .values(property, $0) }
    }
  }

  /// What a property may be that compares so with a value, which stands on the left if it is flipped.
  private func ranges(_ value: LHS.Output, _ isFlipped: Bool) -> KeyRanges? {
    guard let key = indexKey(value) else { return nil }
    let behind = KeyRange.end(ofPrefix: key)
    let nan = startOfNaN(value)
    let withNaN = value is Date ? nan.map { [KeyRange(from: $0)] } ?? [] : []
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
