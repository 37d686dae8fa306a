import FoundationEssentials
import StoreEngine

// Operators that combine conditions.

extension PredicateExpressions.Conjunction: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (left, right) = (translation.term(of: lhs), translation.term(of: rhs))
    let (one, other) = (left.read, right.read)
    return QueryTerm(
      read: { try one($0) && other($0) }, condition: .all([left.condition, right.condition]),
      text: "(\(left.text) AND \(right.text))")
  }
}

extension PredicateExpressions.Disjunction: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (left, right) = (translation.term(of: lhs), translation.term(of: rhs))
    let (one, other) = (left.read, right.read)
    return QueryTerm(
      read: { try one($0) || other($0) }, condition: .any([left.condition, right.condition]),
      text: "(\(left.text) OR \(right.text))")
  }
}

extension PredicateExpressions.Negation: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let term = translation.term(of: wrapped)
    let read = term.read
    var condition = term.condition.negated
    if case .property(let property) = term.kind {
      condition = property.condition(KeyRanges(point: IndexKey(false).bytes)) { !$0 }
    }
    return QueryTerm(read: { try !read($0) }, condition: condition, text: "NOT \(term.text)")
  }
}
