import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport

// Conditions about the tracks that a track refers to.

extension RandomCondition {
  private typealias Parts = PredicateExpressions
  private typealias Property<Value> = any KeyPath<Track, Value> & Sendable

  /// A condition about the reference of a track, the object behind it, or a list.
  static func reference(
    _ track: Track, _ generator: inout SeededGenerator
  ) -> RandomCondition {
    let isNot = Bool.random(using: &generator)
    let inner = simple(&generator)
    switch Int.random(in: 0..<9, using: &generator) {
    case 0: return original(isNot ? nil : track, isNot: Bool.random(using: &generator))
    case 1: return among(isNot ? [track, nil] : [track])
    case 2: return contains(track)
    case 3: return any(inner)
    case 4: return all(inner)
    case 5: return behind("title", \.title, track.title, isNot: isNot)
    case 6: return behind("seconds", \.seconds, track.seconds, isNot: isNot)
    case 7: return behindOptional(isNot ? nil : track.note)
    default: return identity(isNot ? nil : track)
    }
  }

  private static func original(_ track: Track?, isNot: Bool) -> RandomCondition {
    RandomCondition(
      text: "original \(isNot ? "!=" : "==") \(track?.rowID ?? 0)",
      build: { variable in
        let property = Parts.build_KeyPath(root: variable, keyPath: \Track.original)
        return isNot
          ? Parts.build_NotEqual(lhs: property, rhs: Parts.build_Arg(track)) as Expression
          : Parts.build_Equal(lhs: property, rhs: Parts.build_Arg(track))
      }, holds: { ($0.original !== track) == isNot })
  }

  private static func among(_ tracks: [Track?]) -> RandomCondition {
    RandomCondition(
      text: "\(tracks.map { $0?.rowID ?? 0 }).contains(original)",
      build: { variable in
        Parts.build_contains(
          Parts.build_Arg(tracks),
          Parts.build_KeyPath(root: variable, keyPath: \Track.original))
      }, holds: { track in tracks.contains { $0 === track.original } })
  }

  private static func contains(_ track: Track) -> RandomCondition {
    RandomCondition(
      text: "versions.contains(\(track.rowID))",
      build: { variable in
        Parts.build_contains(
          Parts.build_KeyPath(root: variable, keyPath: \Track.versions), Parts.build_Arg(track))
      }, holds: { $0.versions.contains { $0 === track } })
  }

  private static func any(_ inner: RandomCondition) -> RandomCondition {
    RandomCondition(
      text: "any version \(inner.text)", build: { nested($0, inner, isAll: false) },
      holds: { $0.versions.contains(where: inner.holds) })
  }

  private static func all(_ inner: RandomCondition) -> RandomCondition {
    RandomCondition(
      text: "all versions \(inner.text)", build: { nested($0, inner, isAll: true) },
      holds: { $0.versions.allSatisfy(inner.holds) })
  }

  /// A condition of the elements of a list.
  private static func nested(
    _ variable: Variable, _ inner: RandomCondition, isAll: Bool
  ) -> Expression {
    // The closure's type says what it returns, which only the condition knows.
    func build<Body: StandardPredicateExpression<Bool>>(_: Body) -> Expression {
      let list = Parts.build_KeyPath(root: variable, keyPath: \Track.versions)
      func body(_ variable: Variable) -> Body {
        guard let body = inner.build(variable) as? Body else { fatalError("Another type") }
        return body
      }
      return isAll
        ? Parts.build_allSatisfy(list) { body($0) } as Expression
        : Parts.build_contains(list, where: { body($0) })
    }
    return build(inner.build(variable))
  }

  private static func behind<Value: Equatable & Codable & Sendable>(
    _ name: String, _ path: Property<Value>, _ value: Value, isNot: Bool
  ) -> RandomCondition {
    RandomCondition(
      text: "original?.\(name) \(isNot ? "!=" : "==") \(value)",
      build: { variable in
        let property = Parts.build_flatMap(
          Parts.build_KeyPath(root: variable, keyPath: \Track.original)
        ) { Parts.build_KeyPath(root: $0, keyPath: path) }
        let constant = Parts.build_Arg(value as Value?)
        return isNot
          ? Parts.build_NotEqual(lhs: property, rhs: constant) as Expression
          : Parts.build_Equal(lhs: property, rhs: constant)
      }, holds: { ($0.original?[keyPath: path] != value) == isNot })
  }

  /// Two references, and an optional property with something in the place of nil.
  private static func behindOptional(_ note: String?) -> RandomCondition {
    RandomCondition(
      text: "(original?.original?.note ?? x) == \(note ?? "x")",
      build: { variable in
        let property = Parts.build_flatMap(
          Parts.build_KeyPath(root: variable, keyPath: \Track.original)
        ) { original in
          Parts.build_flatMap(Parts.build_KeyPath(root: original, keyPath: \Track.original)) {
            Parts.build_KeyPath(root: $0, keyPath: \Track.note)
          }
        }
        return Parts.build_Equal(
          lhs: Parts.build_NilCoalesce(lhs: property, rhs: Parts.build_Arg("x")),
          rhs: Parts.build_Arg(note ?? "x"))
      }, holds: { ($0.original?.original?.note ?? "x") == note ?? "x" })
  }

  private static func identity(_ track: Track?) -> RandomCondition {
    let id = track?.id
    return RandomCondition(
      text: "original?.id == \(id.map { "\($0)" } ?? "nil")",
      build: { variable in
        Parts.build_Equal(
          lhs: Parts.build_flatMap(
            Parts.build_KeyPath(root: variable, keyPath: \Track.original)
          ) { Parts.build_KeyPath(root: $0, keyPath: \Track.id) },
          rhs: Parts.build_Arg(id))
      }, holds: { $0.original === track })
  }
}
