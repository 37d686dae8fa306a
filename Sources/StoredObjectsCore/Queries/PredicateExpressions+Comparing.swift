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
private func startOfNaN(_ value: Any) -> [UInt8]? {
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

extension PredicateExpressions.Equal: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (left, right) = (translation.term(of: lhs), translation.term(of: rhs))
    let (one, other) = (left.read, right.read)
    var condition = Condition.other
    if let (property, value, _) = left.pair(right), let key = indexKey(value) {
      // NaN is not equal to itself.
      condition = .values(property, value != value ? .none : KeyRanges(point: key))
    }
    return QueryTerm(
      read: { try one($0) == other($0) }, condition: condition,
      text: "\(left.text) == \(right.text)")
  }
}

extension PredicateExpressions.NotEqual: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (left, right) = (translation.term(of: lhs), translation.term(of: rhs))
    let (one, other) = (left.read, right.read)
    var condition = Condition.other
    if let (property, value, _) = left.pair(right), let key = indexKey(value) {
      let behind = KeyRange.end(ofPrefix: key).map { KeyRange(from: $0) }
      condition = .values(
        property,
        value != value ? .all : KeyRanges([KeyRange(to: key)] + (behind.map { [$0] } ?? [])))
    }
    return QueryTerm(
      read: { try one($0) != other($0) }, condition: condition,
      text: "\(left.text) != \(right.text)")
  }
}

extension PredicateExpressions.Comparison: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (left, right) = (translation.term(of: lhs), translation.term(of: rhs))
    let (one, other) = (left.read, right.read)
    var condition = Condition.other
    if let (property, value, isFlipped) = left.pair(right) {
      condition = ranges(value, isFlipped).map { .values(property, $0) } ?? .other
    }
    switch op {
    case .lessThan:
      return QueryTerm(
        read: { try one($0) < other($0) }, condition: condition,
        text: "\(left.text) < \(right.text)")
    case .lessThanOrEqual:
      return QueryTerm(
        read: { try one($0) <= other($0) }, condition: condition,
        text: "\(left.text) <= \(right.text)")
    case .greaterThan:
      return QueryTerm(
        read: { try one($0) > other($0) }, condition: condition,
        text: "\(left.text) > \(right.text)")
    case .greaterThanOrEqual:
      return QueryTerm(
        read: { try one($0) >= other($0) }, condition: condition,
        text: "\(left.text) >= \(right.text)")
    @unknown default: return translation.evaluated(self)
    }
  }

  /// What a property may be that compares so with a value, which stands on the left if it is flipped.
  private func ranges(_ value: LHS.Output, _ isFlipped: Bool) -> KeyRanges? {
    guard let key = indexKey(value) else { return nil }
    if value != value { return KeyRanges.none }
    let behind = KeyRange.end(ofPrefix: key)
    let last = startOfNaN(value)
    switch (op, isFlipped) {
    case (.lessThan, false), (.greaterThan, true): return KeyRanges([KeyRange(to: key)])
    case (.lessThanOrEqual, false), (.greaterThanOrEqual, true):
      return KeyRanges([KeyRange(to: behind)])
    case (.greaterThan, false), (.lessThan, true):
      return behind.map { KeyRanges([KeyRange(from: $0, to: last)]) } ?? KeyRanges.none
    default: return KeyRanges([KeyRange(from: key, to: last)])
    }
  }
}
