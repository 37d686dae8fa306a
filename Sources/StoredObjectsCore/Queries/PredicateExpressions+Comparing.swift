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
  /// What an index may know: a property, or one with something in the place of nil.
  var indexed: (property: AnyKeyPath, stopgap: Output?)? {
    switch kind {
    case .property(let property): (property, nil)
    case .coalesced(let property, let stopgap): (property, stopgap)
    default: nil
    }
  }

  /// The property and the value, where one side is the one and the other side the other.
  fileprivate func pair(_ other: QueryTerm<Object, Output>) -> ComparedPair<Output>? {
    if case .constant(let value) = other.kind, let (property, stopgap) = indexed {
      return ComparedPair(property: property, stopgap: stopgap, value: value, isFlipped: false)
    }
    if case .constant(let value) = kind, let (property, stopgap) = other.indexed {
      return ComparedPair(property: property, stopgap: stopgap, value: value, isFlipped: true)
    }
    return nil
  }
}

/// A property that is compared with a value.
private struct ComparedPair<Value> {
  let property: AnyKeyPath
  /// What stands in for nil, where the property is optional and the value is not.
  let stopgap: Value?
  let value: Value
  let isFlipped: Bool

  /// The condition that the property has some values, of which the stopgap is one or not.
  func condition(_ ranges: KeyRanges, _ holds: (Value) -> Bool) -> Condition {
    guard let stopgap else { return .values(property, ranges) }
    return .values(property, ranges.optional(withNil: holds(stopgap)))
  }
}

extension PredicateExpressions.Equal: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (left, right) = (translation.term(of: lhs), translation.term(of: rhs))
    let (one, other) = (left.read, right.read)
    var condition = Condition.other
    if let pair = left.pair(right), let key = indexKey(pair.value) {
      let value = pair.value
      // NaN is not equal to itself.
      condition = pair.condition(value != value ? .none : KeyRanges(point: key)) { $0 == value }
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
    if let pair = left.pair(right), let key = indexKey(pair.value) {
      let value = pair.value
      let behind = KeyRange.end(ofPrefix: key).map { KeyRange(from: $0) }
      let others = KeyRanges([KeyRange(to: key)] + (behind.map { [$0] } ?? []))
      condition = pair.condition(value != value ? .all : others) { $0 != value }
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
    if let pair = left.pair(right), let ranges = ranges(pair.value, pair.isFlipped) {
      condition = pair.condition(ranges) { holds($0, pair.value, pair.isFlipped) }
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

  /// Whether a value compares so with another, which stands on the left if it is flipped.
  private func holds(_ value: LHS.Output, _ other: LHS.Output, _ isFlipped: Bool) -> Bool {
    let (left, right) = isFlipped ? (other, value) : (value, other)
    switch op {
    case .lessThan: return left < right
    case .lessThanOrEqual: return left <= right
    case .greaterThan: return left > right
    case .greaterThanOrEqual: return left >= right
    // Not translated, and the condition not used.
    @unknown default: return true
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
