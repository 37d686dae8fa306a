import FoundationEssentials
import StoreEngine

// Variables, properties and constants.

extension PredicateExpressions.Variable: QueryExpression {
  func isVariable(_ variable: PredicateExpressions.VariableID) -> Bool { key == variable }

  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    let object = QueryTerm<Object, Object>(read: { $0 }, kind: .object, text: "object")
    guard key == translation.variable.key, let term = object as? QueryTerm<Object, Output> else {
      return translation.evaluated(self)
    }
    return term
  }
}

extension PredicateExpressions.KeyPath: QueryExpression {
  func property(of variable: PredicateExpressions.VariableID) -> AnyKeyPath? {
    (root as? any QueryExpression)?.isVariable(variable) == true ? keyPath : nil
  }

  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    let root = translation.term(of: root)
    let (path, read) = (keyPath, root.read)
    let indexed = translation.indexed(path)
    let text = { translation.name(of: indexed) ?? "property of type \(Output.self)" }
    switch root.kind {
    case .object:
      translation.noteReading(of: path)
      return QueryTerm(
        read: { try read($0)[keyPath: path] }, kind: .property(IndexedProperty(indexed)),
        condition: Output.self == Bool.self
          ? .values(indexed, KeyRanges(point: IndexKey(true).bytes)) : .other, text: text())
    case .property(let reference):
      translation.noteReadingElsewhere()
      let through = translation.property(path, of: reference)
      return QueryTerm(
        read: { try read($0)[keyPath: path] },
        kind: through.map { .property($0) } ?? .computed, text: "\(root.text).\(text())")
    case .constant(let constant):
      let value = constant[keyPath: path]
      return QueryTerm(read: { _ in value }, kind: .constant(value), text: "\(value)")
    case .computed:
      translation.noteReadingElsewhere()
      return QueryTerm(read: { try read($0)[keyPath: path] }, text: "\(root.text).\(text())")
    }
  }
}

extension PredicateExpressions.Value: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    let value = value
    return QueryTerm(read: { _ in value }, kind: .constant(value), text: Self.text(value))
  }
}

extension PredicateExpressions.Value {
  /// Describes a value; a date such as NaN can't describe itself.
  private static func text(_ value: Output) -> String {
    func text(_ date: Date) -> String { "Date(\(date.timeIntervalSinceReferenceDate))" }
    if let date = value as? Date { return text(date) }
    if let dates = value as? [Date?] { return "\(dates.map { $0.map(text) ?? "nil" })" }
    return "\(value)"
  }
}

extension PredicateExpressions.NilLiteral: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    QueryTerm(read: { _ in nil }, kind: .constant(nil), text: "nil")
  }
}

extension PredicateExpressions.NilCoalesce: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    let (left, right) = (translation.term(of: lhs), translation.term(of: rhs))
    let (first, second) = (left.read, right.read)
    var kind = QueryTerm<Object, Output>.Kind.computed
    if case .property(let property) = left.kind, case .constant(let value) = right.kind {
      kind = .property(property.coalesced(with: value))
    }
    return QueryTerm(
      read: { try first($0) ?? (try second($0)) }, kind: kind,
      text: "(\(left.text) ?? \(right.text))")
  }
}

extension PredicateExpressions.Conditional: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    let test = translation.term(of: test)
    let (one, other) = (translation.term(of: trueBranch), translation.term(of: falseBranch))
    return QueryTerm(
      read: { try test.read($0) ? try one.read($0) : try other.read($0) },
      text: "(\(test.text) ? \(one.text) : \(other.text))")
  }
}

extension PredicateExpressions.Arithmetic: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    switch op {
    case .add: translation.joined(lhs, rhs, "+") { $0 + $1 }
    case .subtract: translation.joined(lhs, rhs, "-") { $0 - $1 }
    case .multiply: translation.joined(lhs, rhs, "*") { $0 * $1 }
    @unknown default: translation.evaluated(self)
    }
  }
}

// MARK: - Classes

extension PredicateExpressions.TypeCheck: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let input = translation.term(of: input)
    let read = input.read
    return QueryTerm(
      read: { try read($0) is Desired }, text: "(\(input.text) is \(Desired.self))")
  }
}

extension PredicateExpressions.ConditionalCast: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Desired?> {
    let input = translation.term(of: input)
    let read = input.read
    return QueryTerm(
      read: { try read($0) as? Desired }, text: "(\(input.text) as? \(Desired.self))")
  }
}
