import FoundationEssentials
import StoreEngine

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
  let store: Store
  /// Whether the query is only explained, so that no index may be built for it.
  let isExplained: Bool
  /// How many parts the part is in that is translated.
  private var depth = 0
  /// Nil in a whole predicate; otherwise notes the parts that may depend on an outer variable.
  private var closure: ClosureScope?
  /// Takes down what the predicate reads; nil where nobody wants to know.
  private var reach: PredicateReach?

  /// Deeper predicates are refused: Foundation would evaluate them until the stack is used up.
  private static var depthLimit: Int { 500 }

  private init(
    _ variable: PredicateExpressions.Variable<Object>, _ entry: RegisteredClass?, _ store: Store,
    isExplained: Bool
  ) {
    (self.variable, self.store, self.isExplained) = (variable, store, isExplained)
    indexes = entry?.indexes ?? []
    subclass = entry?.type == Object.self ? nil : entry?.type
  }

  /// Translates a whole predicate for one class: that of the predicate, or a subclass.
  static func of(
    _ predicate: Predicate<Object>, _ entry: RegisteredClass, _ store: Store,
    isExplained: Bool
  ) -> QueryTerm<Object, Bool> {
    QueryTranslation(predicate.variable, entry, store, isExplained: isExplained)
      .open(predicate.expression)
  }

  /// Translates a whole predicate, and says whether it reads only indexed properties, which depend
  /// on nothing but the object.
  static func withReach(
    of predicate: Predicate<Object>, _ entry: RegisteredClass, _ store: Store
  ) -> (term: QueryTerm<Object, Bool>, isLocal: Bool) {
    let reach = PredicateReach()
    var translation = QueryTranslation(predicate.variable, entry, store, isExplained: true)
    translation.reach = reach
    let term = translation.open(predicate.expression)
    return (term, reach.isLocal)
  }

  /// Takes down that a property of the object is read.
  func noteReading(of property: AnyKeyPath) {
    guard let reach else { return }
    let isIndexed = indexes.contains { $0.declaration.properties.contains(indexed(property)) }
    if !isIndexed { reach.isLocal = false }
  }

  /// Takes down that another object is read.
  func noteReadingElsewhere() { reach?.isLocal = false }

  /// Translates the closure of a part, which is about another object.
  ///
  /// Returns nil if the closure may depend on a variable outside of it.
  func closure<Target: StoredObject, Body: PredicateExpression>(
    _ body: Body, about variable: PredicateExpressions.Variable<Target>
  ) -> QueryTerm<Target, Body.Output>? {
    noteReadingElsewhere()
    let scope = ClosureScope()
    let entry = store.classes.first { $0.type == Target.self }
    var inner = QueryTranslation<Target>(variable, entry, store, isExplained: isExplained)
    inner.depth = depth
    inner.closure = scope
    let term = inner.term(of: body)
    return scope.isComplete ? term : nil
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
    closure?.isComplete = false
    noteReadingElsewhere()
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

/// What is found out while a closure is translated.
private final class ClosureScope {
  /// Whether all parts of the closure are translated, and so depend on its own variable only.
  var isComplete = true
}

/// Whether a predicate reads nothing but indexed properties of its object.
private final class PredicateReach {
  var isLocal = true
}
