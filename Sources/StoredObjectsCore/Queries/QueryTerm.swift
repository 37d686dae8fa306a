import FoundationEssentials
import StoreEngine

/// A part of a predicate that has been translated: how it is read from an object, and what it is.
struct QueryTerm<Object: StoredObject, Output> {
  /// What kind of thing a term is, where an index can make something of it.
  enum Kind {
    /// A value that does not depend on the object.
    case constant(Output)
    /// A property of the object.
    case property(AnyKeyPath)
    /// An optional property of the object, and what stands in for nil.
    case coalesced(AnyKeyPath, Output)
    /// The object itself.
    case object
    case computed
  }

  let read: (Object) throws -> Output
  let kind: Kind
  /// What it says, where it is true or false.
  let condition: Condition
  /// Only `explain` asks for it, so that no other query puts it together.
  private let makeText: () -> String

  init(
    read: @escaping (Object) throws -> Output, kind: Kind = .computed,
    condition: Condition = .other, text: @autoclosure @escaping () -> String
  ) {
    (self.read, self.kind, self.condition, makeText) = (read, kind, condition, text)
  }

  /// How it reads.
  var text: String { makeText() }
}

/// A part of a predicate that can be translated.
protocol QueryExpression: PredicateExpression {
  /// The translation; a `QueryTerm<Object, Output>`.
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output>
}

/// The translation of a predicate into closures, which take a tenth of the time, and into
/// conditions.
///
/// What is not known here is left to Foundation: the answer is the same, and only takes longer.
struct QueryTranslation<Object: StoredObject> {
  let variable: PredicateExpressions.Variable<Object>
  /// What to call properties by, which don't know their names.
  let indexes: [RegisteredIndex]
  /// The class whose objects are looked at, where it is a subclass of the predicate's.
  let subclass: StoredObject.Type?
  /// How many parts the part is in that is translated.
  private var depth = 0

  /// Deeper predicates are refused: Foundation would evaluate them until the stack is used up.
  private static var depthLimit: Int { 500 }

  init(
    variable: PredicateExpressions.Variable<Object>, indexes: [RegisteredIndex],
    subclass: StoredObject.Type?
  ) {
    (self.variable, self.indexes, self.subclass) = (variable, indexes, subclass)
  }

  /// Translates a whole predicate.
  static func of(
    _ predicate: Predicate<Object>, indexes: [RegisteredIndex], subclass: StoredObject.Type? = nil
  ) -> QueryTerm<Object, Bool> {
    QueryTranslation(variable: predicate.variable, indexes: indexes, subclass: subclass)
      .open(predicate.expression)
  }

  /// A property as the indexes of the class have it.
  func indexed(_ property: AnyKeyPath) -> AnyKeyPath {
    subclass.map { property.inherited(by: $0) } ?? property
  }

  /// What an index of a property alone is called.
  func name(of property: AnyKeyPath) -> String? {
    indexes.first { $0.declaration.properties == [property] }?.declaration.name
  }

  private func open(
    _ expression: some StandardPredicateExpression<Bool>
  ) -> QueryTerm<Object, Bool> { term(of: expression) }

  /// Translates a part.
  func term<Expression: PredicateExpression>(
    of expression: Expression
  ) -> QueryTerm<Object, Expression.Output> {
    var inner = self
    inner.depth += 1
    if inner.depth > Self.depthLimit { return refused(expression) }
    guard let known = expression as? any QueryExpression,
      let term = inner.open(known) as? QueryTerm<Object, Expression.Output>
    else { return evaluated(expression) }
    return term
  }

  private func open(_ known: some QueryExpression) -> Any { known.term(self) }

  /// A part that is in too many others.
  private func refused<Expression: PredicateExpression>(
    _ expression: Expression
  ) -> QueryTerm<Object, Expression.Output> {
    QueryTerm(
      read: { _ in
        throw StoreError(
          .notEvaluable,
          """
          The predicate is nested more than \(Self.depthLimit) levels deep. Join its parts in halves, \
          or ask for a list of values by contains.
          """, at: .init(className: Object.storedName))
      }, text: "TOO DEEP")
  }

  /// A part that Foundation evaluates.
  func evaluated<Expression: PredicateExpression>(
    _ expression: Expression
  ) -> QueryTerm<Object, Expression.Output> {
    let name = "\(type(of: expression))".prefix { $0 != "<" }
    let read = { (object: Object) throws -> Expression.Output in
      do {
        return try expression.evaluate(PredicateBindings((variable, object)))
      } catch {
        throw StoreError(
          .notEvaluable, "The part \(name) of the predicate could not be evaluated: \(error).",
          at: .init(className: Object.storedName, rowID: object.rowID), underlying: error)
      }
    }
    return QueryTerm(read: read, text: "EVALUATE \(name)")
  }
}
