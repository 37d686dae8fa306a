import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport

/// A condition that was put together at random, as a predicate and as what it means.
struct RandomCondition {
  typealias Variable = PredicateExpressions.Variable<Track>
  typealias Expression = any StandardPredicateExpression<Bool>

  let text: String
  let build: (Variable) -> Expression
  let holds: (Track) -> Bool

  var predicate: Predicate<Track> { Predicate { build($0) } }

  /// A condition of up to so many levels of `&&`, `||` and `!`.
  ///
  /// Objects are compared with some of `tracks`.
  static func random(
    depth: Int, _ tracks: [Track], _ generator: inout SeededGenerator
  ) -> RandomCondition {
    guard depth > 0, Int.random(in: 0..<5, using: &generator) > 0 else {
      if Int.random(in: 0..<3, using: &generator) == 0,
        let track = tracks.randomElement(using: &generator)
      {
        return reference(track, &generator)
      }
      return simple(&generator)
    }
    let left = random(depth: depth - 1, tracks, &generator)
    switch Int.random(in: 0..<5, using: &generator) {
    case 0, 1: return and(left, random(depth: depth - 1, tracks, &generator))
    case 2, 3: return or(left, random(depth: depth - 1, tracks, &generator))
    default: return not(left)
    }
  }

  private static func and(_ left: RandomCondition, _ right: RandomCondition) -> RandomCondition {
    func build(
      _ left: some StandardPredicateExpression<Bool>,
      _ right: some StandardPredicateExpression<Bool>
    ) -> Expression { PredicateExpressions.build_Conjunction(lhs: left, rhs: right) }
    return RandomCondition(
      text: "(\(left.text) && \(right.text))",
      build: { build(left.build($0), right.build($0)) },
      holds: { left.holds($0) && right.holds($0) })
  }

  private static func or(_ left: RandomCondition, _ right: RandomCondition) -> RandomCondition {
    func build(
      _ left: some StandardPredicateExpression<Bool>,
      _ right: some StandardPredicateExpression<Bool>
    ) -> Expression { PredicateExpressions.build_Disjunction(lhs: left, rhs: right) }
    return RandomCondition(
      text: "(\(left.text) || \(right.text))",
      build: { build(left.build($0), right.build($0)) },
      holds: { left.holds($0) || right.holds($0) })
  }

  private static func not(_ one: RandomCondition) -> RandomCondition {
    func build(_ one: some StandardPredicateExpression<Bool>) -> Expression {
      PredicateExpressions.build_Negation(one)
    }
    return RandomCondition(
      text: "!\(one.text)", build: { build(one.build($0)) }, holds: { !one.holds($0) })
  }

  /// A date that is none can't describe itself.
  private static func described(_ value: some Any) -> String {
    (value as? Date).map { "Date(\($0.timeIntervalSinceReferenceDate))" } ?? "\(value)"
  }

  // MARK: One property

  static func simple(_ generator: inout SeededGenerator) -> RandomCondition {
    func one<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: 0..<values.count, using: &generator)]
    }
    switch Int.random(in: 0..<13, using: &generator) {
    case 0: return compared("title", \.title, one(TrackValues.titles), &generator)
    case 1: return compared("seconds", \.seconds, one(TrackValues.seconds), &generator)
    case 2: return compared("rating", \.rating, one(TrackValues.ratings), &generator)
    case 3: return compared("added", \.added, one(TrackValues.moments), &generator)
    case 4: return compared("genre", \.genre, one(TrackValues.genres), &generator)
    case 5: return equal("note", \.note, one(TrackValues.notes), &generator)
    case 6: return equal("isLive", \.isLive, one([true, false]), &generator)
    case 7: return oneOf("title", \.title, (0..<3).map { _ in one(TrackValues.titles) })
    case 8: return oneOf("rating", \.rating, (0..<3).map { _ in one(TrackValues.ratings) })
    case 9: return oneOf("note", \.note, (0..<2).map { _ in one(TrackValues.notes) })
    case 10: return begins("title", \.title, one(TrackValues.titles))
    case 11:
      if Bool.random(using: &generator) {
        return oneOf("added", \.added, (0..<3).map { _ in one(TrackValues.moments) })
      }
      if Bool.random(using: &generator) {
        let ends = [one(TrackValues.moments), one(TrackValues.moments)].filter { $0 == $0 }.sorted()
        if ends.count == 2 {
          return within("added", \.added, ends[0], ends[1], isClosed: one([true, false]))
        }
      }
      let ends = [one(TrackValues.seconds), one(TrackValues.seconds)].sorted()
      return within("seconds", \.seconds, ends[0], ends[1], isClosed: one([true, false]))
    default:
      return RandomCondition(
        text: "isLive",
        build: { PredicateExpressions.build_KeyPath(root: $0, keyPath: \Track.isLive) },
        holds: { $0.isLive })
    }
  }

  private static func compared<Value: Comparable & Codable & Sendable>(
    _ name: String, _ path: any KeyPath<Track, Value> & Sendable, _ value: Value,
    _ generator: inout SeededGenerator
  ) -> RandomCondition {
    let all: [(String, Int, (Value, Value) -> Bool)] = [
      ("<", 0, { $0 < $1 }), ("<=", 1, { $0 <= $1 }), (">", 2, { $0 > $1 }),
      (">=", 3, { $0 >= $1 }),
    ]
    guard let (sign, number, compare) = all.randomElement(using: &generator),
      Int.random(in: 0..<3, using: &generator) > 0
    else { return equal(name, path, value, &generator) }
    let isFlipped = Bool.random(using: &generator)
    return RandomCondition(
      text: isFlipped
        ? "\(described(value)) \(sign) \(name)" : "\(name) \(sign) \(described(value))",
      build: { variable in
        let property = PredicateExpressions.build_KeyPath(root: variable, keyPath: path)
        let constant = PredicateExpressions.build_Arg(value)
        return isFlipped
          ? comparison(constant, property, number) : comparison(property, constant, number)
      },
      holds: {
        isFlipped ? compare(value, $0[keyPath: path]) : compare($0[keyPath: path], value)
      })
  }

  private static func comparison<
    Left: StandardPredicateExpression, Right: StandardPredicateExpression
  >(
    _ left: Left, _ right: Right, _ number: Int
  ) -> Expression where Left.Output == Right.Output, Left.Output: Comparable {
    PredicateExpressions.build_Comparison(
      lhs: left, rhs: right,
      op: [.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual][number])
  }

  private static func equal<Value: Equatable & Codable & Sendable>(
    _ name: String, _ path: any KeyPath<Track, Value> & Sendable, _ value: Value,
    _ generator: inout SeededGenerator
  ) -> RandomCondition {
    let isNot = Bool.random(using: &generator)
    return RandomCondition(
      text: "\(name) \(isNot ? "!=" : "==") \(described(value))",
      build: { variable in
        let property = PredicateExpressions.build_KeyPath(root: variable, keyPath: path)
        let constant = PredicateExpressions.build_Arg(value)
        return isNot
          ? PredicateExpressions.build_NotEqual(lhs: property, rhs: constant) as Expression
          : PredicateExpressions.build_Equal(lhs: property, rhs: constant)
      },
      holds: { ($0[keyPath: path] != value) == isNot })
  }

  private static func oneOf<Value: Equatable & Codable & Sendable>(
    _ name: String, _ path: any KeyPath<Track, Value> & Sendable, _ values: [Value]
  ) -> RandomCondition {
    RandomCondition(
      text: "\(values.map(described)).contains(\(name))",
      build: { variable in
        PredicateExpressions.build_contains(
          PredicateExpressions.build_Arg(values),
          PredicateExpressions.build_KeyPath(root: variable, keyPath: path))
      }, holds: { values.contains($0[keyPath: path]) })
  }

  private static func begins(
    _ name: String, _ path: any KeyPath<Track, String> & Sendable, _ start: String
  ) -> RandomCondition {
    RandomCondition(
      text: "\(name).starts(with: \(start))",
      build: { variable in
        PredicateExpressions.build_starts(
          PredicateExpressions.build_KeyPath(root: variable, keyPath: path),
          with: PredicateExpressions.build_Arg(start))
      }, holds: { $0[keyPath: path].starts(with: start) })
  }

  private static func within<Value: Comparable & Codable & Sendable>(
    _ name: String, _ path: any KeyPath<Track, Value> & Sendable, _ low: Value, _ high: Value,
    isClosed: Bool
  ) -> RandomCondition {
    RandomCondition(
      text: "(\(described(low))\(isClosed ? "..." : "..<")\(described(high))).contains(\(name))",
      build: { variable in
        let property = PredicateExpressions.build_KeyPath(root: variable, keyPath: path)
        let (from, to) = (
          PredicateExpressions.build_Arg(low), PredicateExpressions.build_Arg(high)
        )
        return isClosed
          ? PredicateExpressions.build_contains(
            PredicateExpressions.build_ClosedRange(lower: from, upper: to), property) as Expression
          : PredicateExpressions.build_contains(
            PredicateExpressions.build_Range(lower: from, upper: to), property)
      },
      holds: {
        let value = $0[keyPath: path]
        return value >= low && (isClosed ? value <= high : value < high)
      })
  }
}

/// Values that are easily taken for each other, or are at an end.
enum TrackValues {
  static let titles = [
    "", "A", "a", "Abba", "Åse", "A\u{30A}se", "\u{C5}se", "École", "E\u{301}cole", "Zebra", "中文",
    "中", "😀", "a\u{0}b", "a\u{1}b", "Song 1", "Song 10", "Song 2", "e", "\u{FFFF}", "Straße",
  ]
  static let ratings: [Double] = [
    0, -0.0, 1, -1, .nan, -.nan, .infinity, -.infinity, .leastNonzeroMagnitude, 3.5,
    -.greatestFiniteMagnitude,
  ]
  static let seconds: [Int32] = [.min, -1, 0, 1, 200, 300, .max]
  static let notes: [String?] = [nil, "", "x", "ä", "a\u{308}"]
  static let genres = ["Pop", "Jazz", "Rock"]
  static let moments = [-.infinity, -1, 0, 1, 2, .infinity, .nan].map {
    Date(timeIntervalSinceReferenceDate: $0)
  }
}
