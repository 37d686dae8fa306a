import ConditionSyntax
import Foundation
import StoredObjects

/// Builds the predicate of an expression as `#Predicate` would, so that the store can plan it.
struct SongPredicate {
  typealias Condition = any StandardPredicateExpression<Bool>
  private typealias Parts = PredicateExpressions

  let song: PredicateExpressions.Variable<Song>

  /// Returns the predicate of an expression.
  static func of(_ expression: Expression) -> Predicate<Song> {
    Predicate<Song> { SongPredicate(song: $0).condition(expression) }
  }

  private func condition(_ expression: Expression) -> Condition {
    switch expression {
    case .all(let parts): joined(parts.map(condition)[...], both)
    case .any(let parts): joined(parts.map(condition)[...], either)
    case .not(let part): opposite(condition(part))
    case .comparison(let attribute, let comparison, let value):
      condition(attribute, comparison, value)
    case .oneOf(let attribute, let values):
      joined(values.map { condition(attribute, .equal, $0) }[...], either)
    }
  }

  // MARK: Logic

  /// Joins conditions in halves, so that a long list does not make a deep tree.
  private func joined(_ parts: ArraySlice<Condition>, _ join: (Condition, Condition) -> Condition)
    -> Condition
  {
    if parts.count == 1 { return parts[parts.startIndex] }
    let middle = parts.startIndex + parts.count / 2
    return join(joined(parts[..<middle], join), joined(parts[middle...], join))
  }

  private func both(_ left: Condition, _ right: Condition) -> Condition {
    func open(
      _ left: some StandardPredicateExpression<Bool>,
      _ right: some StandardPredicateExpression<Bool>
    ) -> Condition { Parts.build_Conjunction(lhs: left, rhs: right) }
    return open(left, right)
  }

  private func either(_ left: Condition, _ right: Condition) -> Condition {
    func open(
      _ left: some StandardPredicateExpression<Bool>,
      _ right: some StandardPredicateExpression<Bool>
    ) -> Condition { Parts.build_Disjunction(lhs: left, rhs: right) }
    return open(left, right)
  }

  private func opposite(_ condition: Condition) -> Condition {
    func open(_ part: some StandardPredicateExpression<Bool>) -> Condition {
      Parts.build_Negation(part)
    }
    return open(condition)
  }

  // MARK: Comparisons

  private func condition(
    _ attribute: SongAttribute, _ comparison: Expression.Comparison, _ value: SongValue
  ) -> Condition {
    switch (attribute, value) {
    case (.id, .number(let number)): numberCondition(comparison, number)
    case (.time, .time(let seconds)): timeCondition(comparison, seconds)
    case (.time, _): noneCondition(\Song.milliseconds, comparison)
    case (.artist, _): textCondition(\Song.artist, comparison, value)
    case (.album, _): textCondition(\Song.album, comparison, value)
    case (.location, _): textCondition(\Song.location, comparison, value)
    default: textCondition(\Song.title, comparison, value)
    }
  }

  private func numberCondition(_ comparison: Expression.Comparison, _ number: Int64) -> Condition {
    let property = Parts.build_KeyPath(root: song, keyPath: \Song.number)
    return ordered(property, comparison, number)
  }

  /// Compares a time in whole seconds, as it is listed.
  private func timeCondition(_ comparison: Expression.Comparison, _ seconds: Int64) -> Condition {
    let (start, end) = (seconds * 1000, (seconds + 1) * 1000)
    switch comparison {
    case .less: return known(\Song.milliseconds, 0, .less, start)
    case .lessOrEqual: return known(\Song.milliseconds, 0, .less, end)
    case .greater: return known(\Song.milliseconds, 0, .greaterOrEqual, end)
    case .greaterOrEqual: return known(\Song.milliseconds, 0, .greaterOrEqual, start)
    case .notEqual: return opposite(timeCondition(.equal, seconds))
    default:
      return both(
        known(\Song.milliseconds, 0, .greaterOrEqual, start),
        known(\Song.milliseconds, 0, .less, end))
    }
  }

  private func textCondition(
    _ path: any KeyPath<Song, String?> & Sendable, _ comparison: Expression.Comparison,
    _ value: SongValue
  ) -> Condition {
    guard case .text(let text) = value else { return noneCondition(path, comparison) }
    let property = Parts.build_KeyPath(root: song, keyPath: path)
    let letters = Parts.build_NilCoalesce(lhs: property, rhs: Parts.build_Arg(""))
    switch comparison {
    case .equal: return Parts.build_Equal(lhs: property, rhs: Parts.build_Arg(String?.some(text)))
    case .notEqual:
      return Parts.build_NotEqual(lhs: property, rhs: Parts.build_Arg(String?.some(text)))
    case .contains:
      let found = Parts.build_contains(letters, Parts.build_Arg(text))
      return both(noneCondition(path, .notEqual), found)
    case .starts:
      let found = Parts.build_starts(letters, with: Parts.build_Arg(text))
      return both(noneCondition(path, .notEqual), found)
    default: return known(path, "", comparison, text)
    }
  }

  private func noneCondition<Value: Codable & Equatable & Sendable>(
    _ path: any KeyPath<Song, Value?> & Sendable, _ comparison: Expression.Comparison
  ) -> Condition {
    let property = Parts.build_KeyPath(root: song, keyPath: path)
    if comparison == .equal {
      return Parts.build_Equal(lhs: property, rhs: Parts.build_NilLiteral())
    }
    return Parts.build_NotEqual(lhs: property, rhs: Parts.build_NilLiteral())
  }

  /// Compares an attribute; a song without it is neither less nor greater.
  private func known<Value: Codable & Comparable & Sendable>(
    _ path: any KeyPath<Song, Value?> & Sendable, _ stopgap: Value,
    _ comparison: Expression.Comparison, _ value: Value
  ) -> Condition {
    let property = Parts.build_KeyPath(root: song, keyPath: path)
    let there = Parts.build_NilCoalesce(lhs: property, rhs: Parts.build_Arg(stopgap))
    return both(noneCondition(path, .notEqual), ordered(there, comparison, value))
  }

  private func ordered<Left: StandardPredicateExpression>(
    _ left: Left, _ comparison: Expression.Comparison, _ value: Left.Output
  ) -> Condition where Left.Output: Codable & Comparable & Sendable {
    let right = Parts.build_Arg(value)
    switch comparison {
    case .notEqual: return Parts.build_NotEqual(lhs: left, rhs: right)
    case .less: return Parts.build_Comparison(lhs: left, rhs: right, op: .lessThan)
    case .lessOrEqual: return Parts.build_Comparison(lhs: left, rhs: right, op: .lessThanOrEqual)
    case .greater: return Parts.build_Comparison(lhs: left, rhs: right, op: .greaterThan)
    case .greaterOrEqual:
      return Parts.build_Comparison(lhs: left, rhs: right, op: .greaterThanOrEqual)
    default: return Parts.build_Equal(lhs: left, rhs: right)
    }
  }
}
