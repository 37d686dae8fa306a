import FoundationEssentials
import StoreEngine

// The expressions of predicates; QueryTranslation.swift translates them.
//
// The simple ones are comparisons of a property of the object with a constant, such as
// `$0.title >= title`.
//
// Most queries are such. If an index covers the comparison, nothing else of the predicate is needed,
// so the translation, half of the time to plan a query, is left until something is.

/// An expression of a predicate that can be translated.
protocol QueryExpression: PredicateExpression {
  /// Returns the translation, a `QueryTerm<Object, Output>`.
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output>

  /// Whether the expression is a variable.
  func isVariable(_ variable: PredicateExpressions.VariableID) -> Bool

  /// Returns the property of a variable that the expression reads; nil for any other expression.
  func property(of variable: PredicateExpressions.VariableID) -> AnyKeyPath?

  /// Returns the condition of a comparison of a property with a constant, the same as that of the
  /// translation; nil for any other expression.
  func simpleCondition(about variable: PredicateExpressions.VariableID) -> Condition?
}

extension QueryExpression {
  func isVariable(_ variable: PredicateExpressions.VariableID) -> Bool { false }

  func property(of variable: PredicateExpressions.VariableID) -> AnyKeyPath? { nil }

  func simpleCondition(about variable: PredicateExpressions.VariableID) -> Condition? { nil }
}

/// Returns the condition of a predicate that compares a property with a constant; nil for any other
/// one.
func simpleCondition<Object: StoredObject>(of predicate: Predicate<Object>) -> Condition? {
  (predicate.expression as? any QueryExpression)?.simpleCondition(about: predicate.variable.key)
}

/// Returns the condition of a comparison of a property with a constant.
///
/// - Parameters:
///   - left: The left side.
///   - right: The right side.
///   - variable: The variable of the predicate.
///   - ranges: Returns the values that satisfy it; nil if no index can decide it.
/// - Returns: nil if the left side is no property or the right side is no constant.
func simpleCondition<Left: PredicateExpression, Right: PredicateExpression>(
  _ left: Left, _ right: Right, about variable: PredicateExpressions.VariableID,
  _ ranges: (Left.Output, _ key: [UInt8]) -> KeyRanges?
) -> Condition? where Left.Output == Right.Output {
  guard let property = (left as? any QueryExpression)?.property(of: variable),
    let constant = right as? PredicateExpressions.Value<Right.Output>,
    let key = indexKeyBytes(of: constant.value), let ranges = ranges(constant.value, key)
  else { return nil }
  return .values(property, ranges)
}

/// Returns the bytes of a value in an index; nil if its type is not indexable.
///
/// The static type decides, not the value: an optional has other bytes than the value it wraps.
func indexKeyBytes<Value>(of value: Value) -> [UInt8]? {
  func key<Known: IndexableValue>(_: Known.Type) -> [UInt8]? {
    (value as? Known).map { IndexKey($0).bytes }
  }
  return (Value.self as? any IndexableValue.Type).flatMap { key($0) }
}

/// The translation of a predicate, made when it is first needed.
final class LazyTranslation<Object: StoredObject> {
  private let make: () -> QueryTerm<Object, Bool>
  private(set) lazy var term = make()

  init(_ make: @escaping () -> QueryTerm<Object, Bool>) { self.make = make }
}
