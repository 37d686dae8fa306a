import FoundationEssentials
import StoreEngine

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
func startOfNaN(_ value: Any) -> [UInt8]? {
  switch value {
  case is Double, is Date: IndexKey(Double.nan).bytes
  case is Float: IndexKey(Float.nan).bytes
  default: nil
  }
}

/// The dates that are NaN, if a value is a date; nothing for others.
///
/// A date that is NaN is not before another, and so `>=` and `<=` it, as Swift has it: it is on
/// both sides of every other.
func nanOfDates(_ value: Any) -> [KeyRange] {
  guard value is Date, let start = startOfNaN(value) else { return [] }
  return [KeyRange(from: start)]
}

/// A property that an index may know.
struct IndexedProperty<Value> {
  let path: AnyKeyPath
  /// What stands in for nil, where the property is optional and the value is not.
  let stopgap: Value?

  /// The condition that the property has some values, of which the stopgap is one or not.
  func condition(_ ranges: KeyRanges, _ holds: (Value) -> Bool) -> Condition {
    guard let stopgap else { return .values(path, ranges) }
    return .values(path, ranges.optional(withNil: holds(stopgap)))
  }
}

extension QueryTerm {
  /// What an index may know: a property, or one with something in the place of nil.
  var indexed: IndexedProperty<Output>? {
    switch kind {
    case .property(let path): IndexedProperty(path: path, stopgap: nil)
    case .coalesced(let path, let stopgap): IndexedProperty(path: path, stopgap: stopgap)
    default: nil
    }
  }

  /// The property and the value, where one side is the one and the other side the other.
  fileprivate func pair(
    _ other: QueryTerm<Object, Output>
  ) -> (property: IndexedProperty<Output>, value: Output, isFlipped: Bool)? {
    switch (indexed, other.indexed, kind, other.kind) {
    case (let property?, _, _, .constant(let value)): (property, value, false)
    case (_, let property?, .constant(let value), _): (property, value, true)
    default: nil
    }
  }
}

extension QueryTranslation {
  /// Two parts with an operator between them.
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

  /// Two parts that are compared.
  ///
  /// `ranges` says what a property may be that compares so with a value, which stands on the left
  /// if it is flipped; nil where no index can tell.
  fileprivate func compared<Left: PredicateExpression, Right: PredicateExpression>(
    _ left: Left, _ right: Right, _ sign: String,
    _ compare: @escaping (Left.Output, Left.Output) -> Bool,
    ranges: (Left.Output, Bool) -> KeyRanges?
  ) -> QueryTerm<Object, Bool> where Left.Output == Right.Output {
    let (left, right) = (term(of: left), term(of: right))
    let (one, other) = (left.read, right.read)
    var condition = Condition.other
    if let (property, value, isFlipped) = left.pair(right), let ranges = ranges(value, isFlipped) {
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
    translation.compared(lhs, rhs, "==", { $0 == $1 }) { value, _ in
      // NaN is not equal to itself.
      indexKey(value).map { value != value ? .none : KeyRanges(point: $0) }
    }
  }
}

extension PredicateExpressions.NotEqual: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    translation.compared(lhs, rhs, "!=", { $0 != $1 }) { value, _ in
      indexKey(value).map { value != value ? .all : KeyRanges(point: $0).complement }
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

  /// What a property may be that compares so with a value, which stands on the left if it is
  /// flipped.
  private func ranges(_ value: LHS.Output, _ isFlipped: Bool) -> KeyRanges? {
    guard let key = indexKey(value) else { return nil }
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
