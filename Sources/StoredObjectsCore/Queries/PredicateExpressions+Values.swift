import FoundationEssentials

// Variables, properties and constants.

extension PredicateExpressions.Variable: QueryExpression {
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
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    let root = translation.term(of: root)
    let (path, read) = (keyPath, root.read)
    let text = translation.names[path] ?? "property of type \(Output.self)"
    var kind = QueryTerm<Object, Output>.Kind.computed
    if case .object = root.kind { kind = .property(path) }
    return QueryTerm(
      read: { try read($0)[keyPath: path] }, kind: kind,
      text: root.text == "object" ? text : "\(root.text).\(text)")
  }
}

extension PredicateExpressions.Value: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    let value = value
    return QueryTerm(read: { _ in value }, kind: .constant(value), text: "\(value)")
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
      kind = .coalesced(property, value)
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
    let (left, right) = (translation.term(of: lhs), translation.term(of: rhs))
    let (one, other) = (left.read, right.read)
    switch op {
    case .add:
      return QueryTerm(read: { try one($0) + other($0) }, text: "(\(left.text) + \(right.text))")
    case .subtract:
      return QueryTerm(read: { try one($0) - other($0) }, text: "(\(left.text) - \(right.text))")
    case .multiply:
      return QueryTerm(read: { try one($0) * other($0) }, text: "(\(left.text) * \(right.text))")
    @unknown default: return translation.evaluated(self)
    }
  }
}
