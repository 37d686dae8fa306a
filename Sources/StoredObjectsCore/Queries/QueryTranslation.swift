import FoundationEssentials
import StoreEngine

/// A translation of a predicate into closures and index conditions.
///
/// A closure takes a tenth of the time of Foundation's evaluation. Foundation evaluates the
/// expressions that the translation does not know: the result is the same, but takes longer.
struct QueryTranslation<Object: StoredObject> {
  let variable: PredicateExpressions.Variable<Object>
  /// The indexes of the class, which give properties their names.
  let indexes: [RegisteredIndex]
  /// The class of the objects, if it is a subclass of the predicate's class.
  let subclass: StoredObject.Type?
  let store: Store
  /// Whether the query is only explained, so that no index may be built for it.
  let isExplained: Bool
  /// The nesting depth of the expression that is being translated.
  private var depth = 0
  /// A record of expressions that may use an outer variable; nil in a whole predicate.
  private var closure: ClosureScope?
  /// A record of the properties that the predicate reads; nil if the caller does not need it.
  private var reach: PredicateReach?

  /// The maximum depth: Foundation would evaluate deeper predicates until the stack overflows.
  private static var depthLimit: Int { 500 }

  private init(
    _ variable: PredicateExpressions.Variable<Object>, _ entry: RegisteredClass?, _ store: Store,
    isExplained: Bool
  ) {
    (self.variable, self.store, self.isExplained) = (variable, store, isExplained)
    indexes = entry?.indexes ?? []
    subclass = entry?.type == Object.self ? nil : entry?.type
  }

  /// Translates a predicate for one class: the class of the predicate, or a subclass.
  static func of(
    _ predicate: Predicate<Object>, _ entry: RegisteredClass, _ store: Store,
    isExplained: Bool
  ) -> QueryTerm<Object, Bool> {
    QueryTranslation(predicate.variable, entry, store, isExplained: isExplained)
      .open(predicate.expression)
  }

  /// Translates a predicate, and returns whether it reads indexed properties of the object only.
  static func withReach(
    of predicate: Predicate<Object>, _ entry: RegisteredClass, _ store: Store
  ) -> (term: QueryTerm<Object, Bool>, isLocal: Bool) {
    let reach = PredicateReach()
    var translation = QueryTranslation(predicate.variable, entry, store, isExplained: true)
    translation.reach = reach
    let term = translation.open(predicate.expression)
    return (term, reach.isLocal)
  }

  /// Records that a property of the object is read.
  func noteReading(of property: AnyKeyPath) {
    guard let reach else { return }
    let isIndexed = indexes.contains { $0.declaration.properties.contains(indexed(property)) }
    if !isIndexed { reach.isLocal = false }
  }

  /// Records that another object is read.
  func noteReadingElsewhere() { reach?.isLocal = false }

  /// Translates the closure of an expression, which is about another object.
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

  /// Returns a property as the indexes of the class name it.
  func indexed(_ property: AnyKeyPath) -> AnyKeyPath {
    subclass.map { property.inherited(by: $0) } ?? property
  }

  /// Returns the name of the index that has this property alone.
  func name(of property: AnyKeyPath) -> String? {
    indexes.first { $0.declaration.properties == [property] }?.declaration.name
  }

  private func open(
    _ expression: some StandardPredicateExpression<Bool>
  ) -> QueryTerm<Object, Bool> { term(of: expression) }

  /// Translates an expression.
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

  /// Returns the term of an expression that is nested too deeply, which throws.
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

  /// Returns the term of an expression that Foundation evaluates.
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

/// The findings of the translation of a closure.
private final class ClosureScope {
  /// Whether all expressions in the closure are translated, and so use its own variable only.
  var isComplete = true
}

/// Whether a predicate reads indexed properties of its object only.
private final class PredicateReach {
  var isLocal = true
}
