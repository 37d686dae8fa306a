import FoundationEssentials
import StoreEngine

// Expressions with a closure: about the object behind an optional reference, or about the elements
// of a list.

extension PredicateExpressions.OptionalFlatMap: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Result?> {
    func open<Target: ObjectIdentity>(_: Target.Type) -> QueryTerm<Object, Result?>? {
      guard let variable = variable as? PredicateExpressions.Variable<Target>,
        let base = translation.term(of: wrapped) as? QueryTerm<Object, Target?>,
        let inner = translation.closure(transform, about: variable)
      else { return nil }
      if let inner = inner as? QueryTerm<Target, Result> {
        return Self.joined(base, inner, translation)
      }
      return (inner as? QueryTerm<Target, Result?>).map { Self.joined(base, $0, translation) }
    }
    let type = Wrapped.self as? any ObjectIdentity.Type
    return type.flatMap { open($0) } ?? translation.evaluated(self)
  }

  /// Returns the term for a value of the referenced object.
  private static func joined<Object, Target: ObjectIdentity>(
    _ base: QueryTerm<Object, Target?>, _ inner: QueryTerm<Target, Result>,
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Result?> {
    let (reference, read) = (base.read, inner.read)
    return QueryTerm(
      read: { try reference($0).map { try read($0) } },
      kind: kind(base, inner, translation) { ranges, holds in
        (ranges.unwrapped, { holds($0) })
      },
      text: "\(base.text)?.\(inner.text)")
  }

  /// Returns the term for an optional value of the referenced object.
  private static func joined<Object, Target: ObjectIdentity>(
    _ base: QueryTerm<Object, Target?>, _ inner: QueryTerm<Target, Result?>,
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Result?> {
    let (reference, read) = (base.read, inner.read)
    return QueryTerm(
      read: { try reference($0).flatMap { try read($0) } },
      kind: kind(base, inner, translation) { ($0, $1) },
      text: "\(base.text)?.\(inner.text)")
  }

  /// Returns what an index may know of the value.
  ///
  /// `asked` gives the condition on the value for the case that the reference is not nil.
  private static func kind<Object, Target: ObjectIdentity, Value>(
    _ base: QueryTerm<Object, Target?>, _ inner: QueryTerm<Target, Value>,
    _ translation: QueryTranslation<Object>,
    _ asked: @escaping (KeyRanges, @escaping (Result?) -> Bool) -> (KeyRanges, (Value) -> Bool)
  ) -> QueryTerm<Object, Result?>.Kind {
    guard let reference = base.indexed, let property = inner.indexed else { return .computed }
    if let path = property.path, path == \Target.id {
      // The key of an ID is the key of a reference.
      return reference.path.map { .property(IndexedProperty($0)) } ?? .computed
    }
    let read = inner.read
    return .property(
      IndexedProperty { ranges, holds in
        let (ranges, holdsInside) = asked(ranges, holds)
        return translation.joined(
          reference, { $0 }, matchesNil: holds(nil),
          QueryTerm(
            read: { holdsInside(try read($0)) },
            condition: property.condition(ranges, holdsInside), text: ""))
      })
  }
}

/// A closure about the elements of a list, translated together with the list.
private struct ElementTest<Object: StoredObject, List: Sequence> {
  let list: QueryTerm<Object, List>
  /// Whether the closure holds for an element.
  let holds: (List.Element) throws -> Bool
  /// Returns the condition that the closure holds for an element of a list property.
  let condition: (AnyKeyPath) -> Condition
  let text: String

  /// Translates the closure; returns nil if it can't be translated.
  init?<Variable, Sequence: PredicateExpression, Test: PredicateExpression>(
    _ variable: Variable, _ sequence: Sequence, _ test: Test,
    _ translation: QueryTranslation<Object>
  ) where Sequence.Output == List {
    func open<Target: ObjectIdentity>(_: Target.Type) -> Self? {
      guard let variable = variable as? PredicateExpressions.Variable<Target>,
        let inner = translation.closure(test, about: variable) as? QueryTerm<Target, Bool>
      else { return nil }
      return Self(translation.term(of: sequence), inner, translation)
    }
    guard let type = List.Element.self as? any ObjectIdentity.Type, let test = open(type) else {
      return nil
    }
    self = test
  }

  private init<Target: ObjectIdentity>(
    _ list: QueryTerm<Object, List>, _ inner: QueryTerm<Target, Bool>,
    _ translation: QueryTranslation<Object>
  ) {
    self.list = list
    holds = { try ($0 as? Target).map(inner.read) ?? false }
    condition = { translation.element(of: $0, inner) }
    text = "\(list.text)(\(inner.text))"
  }
}

extension PredicateExpressions.SequenceContainsWhere: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    guard let elements = ElementTest(variable, sequence, test, translation) else {
      return translation.evaluated(self)
    }
    let path = elements.list.indexed?.path
    return QueryTerm(
      read: { try elements.list.read($0).contains(where: elements.holds) },
      condition: path.map(elements.condition) ?? .other, text: "ANY \(elements.text)")
  }
}

extension PredicateExpressions.SequenceAllSatisfy: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    guard let elements = ElementTest(variable, sequence, test, translation) else {
      return translation.evaluated(self)
    }
    return QueryTerm(
      read: { try elements.list.read($0).allSatisfy(elements.holds) },
      text: "ALL \(elements.text)")
  }
}

extension PredicateExpressions.Filter: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, [LHS.Output.Element]> {
    guard let elements = ElementTest(variable, sequence, filter, translation) else {
      return translation.evaluated(self)
    }
    return QueryTerm(
      read: { try elements.list.read($0).filter(elements.holds) }, text: elements.text)
  }
}
