import Foundation
import StoredObjects

/// Expressions as predicates, as `#Predicate` would write them, so that the store plans them.
struct SongTests {
  typealias Test = any StandardPredicateExpression<Bool>
  private typealias Parts = PredicateExpressions

  let song: PredicateExpressions.Variable<Song>

  /// The predicate of an expression.
  static func predicate(_ expression: Expression) -> Predicate<Song> {
    Predicate<Song> { SongTests(song: $0).test(expression) }
  }

  private func test(_ expression: Expression) -> Test {
    switch expression {
    case .all(let parts): joined(parts.map(test)[...], both)
    case .any(let parts): joined(parts.map(test)[...], either)
    case .not(let part): opposite(test(part))
    case .comparison(let attribute, let comparison, let value): test(attribute, comparison, value)
    case .oneOf(let attribute, let values):
      joined(
        values.map { test(attribute, .equal, $0) }[...], either)
    }
  }

  // MARK: Logic

  /// In halves, so that a long list does not make a deep tree.
  private func joined(_ tests: ArraySlice<Test>, _ join: (Test, Test) -> Test) -> Test {
    if tests.count == 1 { return tests[tests.startIndex] }
    let middle = tests.startIndex + tests.count / 2
    return join(joined(tests[..<middle], join), joined(tests[middle...], join))
  }

  private func both(_ left: Test, _ right: Test) -> Test {
    func open(
      _ left: some StandardPredicateExpression<Bool>,
      _ right: some StandardPredicateExpression<Bool>
    ) -> Test { Parts.build_Conjunction(lhs: left, rhs: right) }
    return open(left, right)
  }

  private func either(_ left: Test, _ right: Test) -> Test {
    func open(
      _ left: some StandardPredicateExpression<Bool>,
      _ right: some StandardPredicateExpression<Bool>
    ) -> Test { Parts.build_Disjunction(lhs: left, rhs: right) }
    return open(left, right)
  }

  private func opposite(_ test: Test) -> Test {
    func open(_ test: some StandardPredicateExpression<Bool>) -> Test { Parts.build_Negation(test) }
    return open(test)
  }

  // MARK: Comparisons

  private func test(
    _ attribute: SongAttribute, _ comparison: Expression.Comparison, _ value: Expression.Value
  ) -> Test {
    switch (attribute, value) {
    case (.id, .number(let number)): numberTest(comparison, number)
    case (.time, .time(let seconds)): timeTest(comparison, seconds)
    case (.time, _): noneTest(\Song.milliseconds, comparison)
    case (.artist, _): textTest(\Song.artist, comparison, value)
    case (.album, _): textTest(\Song.album, comparison, value)
    case (.location, _): textTest(\Song.location, comparison, value)
    default: textTest(\Song.title, comparison, value)
    }
  }

  private func numberTest(_ comparison: Expression.Comparison, _ number: Int64) -> Test {
    let property = Parts.build_KeyPath(root: song, keyPath: \Song.number)
    return ordered(property, comparison, number)
  }

  /// A time is listed without the thousandths, and is compared so.
  private func timeTest(_ comparison: Expression.Comparison, _ seconds: Int64) -> Test {
    let (start, end) = (seconds * 1000, (seconds + 1) * 1000)
    switch comparison {
    case .less: return known(\Song.milliseconds, 0, .less, start)
    case .lessOrEqual: return known(\Song.milliseconds, 0, .less, end)
    case .greater: return known(\Song.milliseconds, 0, .greaterOrEqual, end)
    case .greaterOrEqual: return known(\Song.milliseconds, 0, .greaterOrEqual, start)
    case .notEqual: return opposite(timeTest(.equal, seconds))
    default:
      return both(
        known(\Song.milliseconds, 0, .greaterOrEqual, start),
        known(\Song.milliseconds, 0, .less, end))
    }
  }

  private func textTest(
    _ path: any KeyPath<Song, String?> & Sendable, _ comparison: Expression.Comparison,
    _ value: Expression.Value
  ) -> Test {
    guard case .text(let text) = value else { return noneTest(path, comparison) }
    let property = Parts.build_KeyPath(root: song, keyPath: path)
    let letters = Parts.build_NilCoalesce(lhs: property, rhs: Parts.build_Arg(""))
    switch comparison {
    case .equal: return Parts.build_Equal(lhs: property, rhs: Parts.build_Arg(String?.some(text)))
    case .notEqual:
      return Parts.build_NotEqual(lhs: property, rhs: Parts.build_Arg(String?.some(text)))
    case .contains:
      let found = Parts.build_contains(letters, Parts.build_Arg(text))
      return both(noneTest(path, .notEqual), found)
    case .starts:
      let found = Parts.build_starts(letters, with: Parts.build_Arg(text))
      return both(noneTest(path, .notEqual), found)
    default: return known(path, "", comparison, text)
    }
  }

  private func noneTest<Value: Codable & Equatable & Sendable>(
    _ path: any KeyPath<Song, Value?> & Sendable, _ comparison: Expression.Comparison
  ) -> Test {
    let property = Parts.build_KeyPath(root: song, keyPath: path)
    if comparison == .equal {
      return Parts.build_Equal(lhs: property, rhs: Parts.build_NilLiteral())
    }
    return Parts.build_NotEqual(lhs: property, rhs: Parts.build_NilLiteral())
  }

  /// A song that does not have the attribute is neither less nor greater.
  private func known<Value: Codable & Comparable & Sendable>(
    _ path: any KeyPath<Song, Value?> & Sendable, _ stopgap: Value,
    _ comparison: Expression.Comparison, _ value: Value
  ) -> Test {
    let property = Parts.build_KeyPath(root: song, keyPath: path)
    let there = Parts.build_NilCoalesce(lhs: property, rhs: Parts.build_Arg(stopgap))
    return both(noneTest(path, .notEqual), ordered(there, comparison, value))
  }

  private func ordered<Left: StandardPredicateExpression>(
    _ left: Left, _ comparison: Expression.Comparison, _ value: Left.Output
  ) -> Test where Left.Output: Codable & Comparable & Sendable {
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
