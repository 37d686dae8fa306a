/// A condition, as in `artist starts with "Johann" and (time >= 210 or album = none)`.
///
/// A comparison is an attribute, an operator and a value. `not` binds tighter than `and`, and `and`
/// tighter than `or`. A ``ConditionVocabulary`` defines the attributes and the values.
package indirect enum Condition<Attribute, Value> {
  /// All of the conditions have to be true.
  case all([Condition])
  /// One of the conditions has to be true.
  case any([Condition])
  /// The condition has to be false.
  case not(Condition)
  /// A comparison with a value.
  case comparison(Attribute, Comparison, Value)
  /// The attribute has one of the values.
  case oneOf(Attribute, [Value])

  /// An operator of a comparison.
  package typealias Comparison = ConditionOperator
}

extension Condition: Sendable where Attribute: Sendable, Value: Sendable {}
extension Condition: Equatable where Attribute: Equatable, Value: Equatable {}

/// An operator of a comparison.
package enum ConditionOperator: String, Sendable {
  case equal = "="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case contains = "contains"
  case starts = "starts with"
}

/// An error in the text of a condition.
package struct ConditionError: Error {
  /// The number of characters before the error.
  package let position: Int
  /// The description of the error.
  package let message: String

  /// Creates an error.
  package init(at position: Int, _ message: String) {
    (self.position, self.message) = (position, message)
  }
}
