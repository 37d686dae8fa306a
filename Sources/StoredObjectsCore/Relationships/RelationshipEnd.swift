/// A relationship of one registered class, and its other side.
final class RelationshipEnd {
  var relationship: Relationship
  /// The class whose objects have the property.
  unowned let source: RegisteredClass
  /// Who refers to whom, once it has been asked for; not kept where the inverse says it.
  var index = CommitBound<ReferenceIndex>()

  init(_ relationship: Relationship, of source: RegisteredClass) {
    (self.relationship, self.source) = (relationship, source)
  }

  var kind: ReferenceAccess.Kind { relationship.access.kind }
  var hasInverse: Bool { relationship.inverse != nil }
  /// Whether anyone wants to know which references an edit has added and removed.
  var isWatched: Bool { hasInverse || index.value != nil }

  func targets(of object: StoredObject) -> [StoredObject] { relationship.access.targets(object) }

  func setTargets(of object: StoredObject, _ targets: [StoredObject]) {
    relationship.access.setTargets(object, targets)
  }

  /// How often an object refers to another.
  func count(of target: StoredObject, in object: StoredObject) -> Int {
    targets(of: object).count { $0 === target }
  }

  /// Takes out every reference of an object to another.
  ///
  /// - Returns: whether there was any.
  @discardableResult
  func removeAll(_ target: StoredObject, from object: StoredObject) -> Bool {
    let old = targets(of: object)
    let new = old.filter { $0 !== target }
    if new.count < old.count { setTargets(of: object, new) }
    return new.count < old.count
  }
}

/// Which objects may refer to an object, by their rows.
///
/// It may name too many, never too few, so that references which go away need not be told.
struct ReferenceIndex {
  private var sources: [ObjectKey: [UInt32]] = [:]

  /// Takes down a reference.
  mutating func note(_ source: UInt32, refersTo target: ObjectKey) {
    if sources[target]?.last != source { sources[target, default: []].append(source) }
  }

  /// The rows that may refer to an object, each once, in ascending order.
  func candidates(for target: ObjectKey) -> [UInt32] { Set(sources[target] ?? []).sorted() }
}
