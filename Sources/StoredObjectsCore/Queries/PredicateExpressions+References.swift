public import FoundationEssentials
import StoreEngine

/// A reference to an object, optional or not: `Artist` or `Artist?`.
///
/// `#Predicate` compares such a property with an object by `PredicateExpressions.ReferenceEqual`.
public protocol ObjectReference {
  /// The ID of the referenced object, or nil if there is none.
  var referencedID: ObjectID<StoredObject>? { get }
}

extension StoredObject: ObjectReference {
  /// The ID of the object.
  public var referencedID: ObjectID<StoredObject>? { ObjectID(self) }
}

extension Optional: ObjectReference where Wrapped: StoredObject {
  /// The ID of the object, or nil if there is none.
  public var referencedID: ObjectID<StoredObject>? { map { ObjectID($0) } }
}

extension PredicateExpressions {
  /// An expression that compares a reference with an object by ID: `$0.artist == artist`.
  ///
  /// The predicate holds only the ID, so you can send it to another task.
  public struct ReferenceEqual<Reference: StandardPredicateExpression>: StandardPredicateExpression
  where Reference.Output: ObjectReference {
    let reference: Reference
    let id: ObjectID<StoredObject>?
    let isNegated: Bool

    /// Returns whether the reference of the bound object leads to the row of the ID.
    ///
    /// For `!=`, returns the opposite.
    ///
    /// Complexity: constant time, plus the evaluation of the reference. It reads no object that the
    /// reference leads to.
    ///
    /// - Throws: The errors of evaluating the reference.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      (try reference.evaluate(bindings).referencedID == id) != isNegated
    }
  }

  /// An expression that compares a reference with objects by ID: `[a, b].contains($0.artist)`.
  public struct ReferenceAmong<Reference: StandardPredicateExpression>: StandardPredicateExpression
  where Reference.Output: ObjectReference {
    let reference: Reference
    let ids: [ObjectID<StoredObject>?]

    /// Returns whether the reference of the bound object leads to the row of one of the IDs.
    ///
    /// Complexity: linear in the number of IDs.
    ///
    /// - Throws: The errors of evaluating the reference.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      ids.contains(try reference.evaluate(bindings).referencedID)
    }
  }

  /// An expression that searches a list of objects for an object by ID: `$0.songs.contains(song)`.
  public struct ReferenceContained<List: StandardPredicateExpression>: StandardPredicateExpression
  where List.Output: Sequence, List.Output.Element: ObjectReference {
    let list: List
    let id: ObjectID<StoredObject>?

    /// Returns whether the list of the bound object contains the object of the ID.
    ///
    /// Complexity: linear in the length of the list.
    ///
    /// - Throws: The errors of evaluating the list.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try list.evaluate(bindings).contains { $0.referencedID == id }
    }
  }

  // `#Predicate` calls these. They are disfavoured: otherwise, predicates without references would
  // take the compiler many times as long.

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Creates the expression for `$0.artist == artist` in `#Predicate`.
  @_disfavoredOverload
  public static func build_Equal<Reference: StandardPredicateExpression>(
    lhs: Reference, rhs: Value<Reference.Output>
  ) -> ReferenceEqual<Reference> {
    ReferenceEqual(reference: lhs, id: rhs.value.referencedID, isNegated: false)
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Creates the expression for `$0.artist != artist` in `#Predicate`.
  @_disfavoredOverload
  public static func build_NotEqual<Reference: StandardPredicateExpression>(
    lhs: Reference, rhs: Value<Reference.Output>
  ) -> ReferenceEqual<Reference> {
    ReferenceEqual(reference: lhs, id: rhs.value.referencedID, isNegated: true)
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Creates the expression for `[a, b].contains($0.artist)` in `#Predicate`.
  ///
  /// Complexity: linear in the number of objects.
  @_disfavoredOverload
  public static func build_contains<
    Objects: Sequence, Reference: StandardPredicateExpression
  >(
    _ lhs: Value<Objects>, _ rhs: Reference
  ) -> ReferenceAmong<Reference> where Objects.Element == Reference.Output {
    ReferenceAmong(reference: rhs, ids: lhs.value.map(\.referencedID))
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Creates the expression for `$0.songs.contains(song)` in `#Predicate`.
  ///
  /// Complexity: constant time.
  @_disfavoredOverload
  public static func build_contains<List: StandardPredicateExpression>(
    _ lhs: List, _ rhs: Value<List.Output.Element>
  ) -> ReferenceContained<List> where List.Output: Sequence {
    ReferenceContained(list: lhs, id: rhs.value.referencedID)
  }
}

// MARK: - Translating

extension QueryTranslation {
  /// Returns the fastest test of whether an object has an ID; the nil ID means no object.
  fileprivate func isObject(of id: ObjectID<StoredObject>?) -> (StoredObject?) -> Bool {
    guard let id else { return { $0 == nil } }
    guard !id.isTemporary else { return { $0.map { ObjectID($0) } == id } }
    let (className, rowID) = (id.className, id.rowID)
    return { object in
      guard let object, object.rowID == rowID else { return false }
      return object.registration?.name == className
    }
  }

  /// Returns the keys of references to some IDs; without those of objects the store can't have.
  fileprivate func ranges(
    _ ids: [ObjectID<StoredObject>?], isOptional: Bool
  ) -> KeyRanges {
    let keys = ids.compactMap { id in
      isOptional ? key(of: id) : id.flatMap { key(of: $0) }
    }
    return KeyRanges(keys.map { .prefix($0) }, points: Set(keys))
  }
}

/// Returns the object of a reference, optional or not.
private func object(_ reference: some ObjectReference) -> StoredObject? {
  reference as? StoredObject
}

extension PredicateExpressions.ReferenceEqual: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let term = translation.term(of: reference)
    let (read, isNegated, isSame) = (term.read, isNegated, translation.isObject(of: id))
    let same = translation.ranges([id], isOptional: !(Reference.Output.self is StoredObject.Type))
    let condition = term.indexed?.condition(isNegated ? same.complement : same) {
      isSame(object($0)) != isNegated
    }
    return QueryTerm(
      read: { isSame(object(try read($0))) != isNegated }, condition: condition ?? .other,
      text: "\(term.text) \(isNegated ? "!=" : "==") \(id.map { "\($0)" } ?? "nil")")
  }
}

extension PredicateExpressions.ReferenceAmong: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let term = translation.term(of: reference)
    let (read, ids) = (term.read, Set(ids))
    let isAmong = { (reference: Reference.Output) in ids.contains(reference.referencedID) }
    let ranges = translation.ranges(
      Array(ids), isOptional: !(Reference.Output.self is StoredObject.Type))
    return QueryTerm(
      read: { isAmong(try read($0)) },
      condition: term.indexed?.condition(ranges, isAmong) ?? .other,
      text: "\(term.text) IN \(ids.map { $0.map { "\($0)" } ?? "nil" }.sorted())")
  }
}

extension PredicateExpressions.ReferenceContained: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let term = translation.term(of: list)
    let (read, isSame) = (term.read, translation.isObject(of: id))
    let ranges = translation.ranges([id], isOptional: false)
    let path = List.Output.Element.self is StoredObject.Type ? term.indexed?.path : nil
    return QueryTerm(
      read: { try read($0).contains { isSame(object($0)) } },
      condition: path.map { .element($0, ranges) } ?? .other,
      text: "\(id.map { "\($0)" } ?? "nil") IN \(term.text)")
  }
}
