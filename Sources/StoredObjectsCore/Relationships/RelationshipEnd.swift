import StoreEngine

/// A relationship of one registered class, and its other side.
final class RelationshipEnd {
  var relationship: Relationship
  /// The class whose objects have the property.
  unowned let source: RegisteredClass
  /// The place of the inverse among the ends of each class, by class ID; -1 where there is none.
  var inverseIndices: [Int] = []
  /// Who refers to whom, once it has been asked for; not kept where the inverse says it.
  var index = CommitBound<ReferenceIndex>()
  /// Whether the index has saved references as well as unsaved ones.
  var knowsSaved = false
  /// How often an attribute index was asked instead.
  var lookUpCount = 0

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

  /// The object that an end of the kind `one` refers to.
  func target(of object: StoredObject) -> StoredObject? { relationship.access.target(object) }

  func setTarget(of object: StoredObject, _ target: StoredObject?) {
    relationship.access.setTarget(object, target)
  }

  /// The references of an object, to be compared later.
  func value(of object: StoredObject) -> Value {
    kind == .one ? .one(target(of: object)) : .many(targets(of: object))
  }

  enum Value {
    case one(StoredObject?)
    case many([StoredObject])
  }
}

/// How often lists that an application has filled by hand hold new objects.
///
/// Each list is read once, however many of its objects are new.
struct FilledLists {
  /// The new objects that other objects were edited beside.
  let inserted: Set<ObjectIdentifier>
  private var counts: [List: [ObjectIdentifier: Int]] = [:]

  private struct List: Hashable {
    let object: ObjectIdentifier
    let end: ObjectIdentifier
  }

  init(inserted: Set<ObjectIdentifier>) { self.inserted = inserted }

  /// - Precondition: the objects live for as long as this does.
  mutating func count(
    of target: StoredObject, in object: StoredObject, _ end: RelationshipEnd
  ) -> Int {
    let list = List(object: ObjectIdentifier(object), end: ObjectIdentifier(end))
    if let counts = counts[list] { return counts[ObjectIdentifier(target)] ?? 0 }
    var new: [ObjectIdentifier: Int] = [:]
    for target in end.targets(of: object) { new[ObjectIdentifier(target), default: 0] += 1 }
    counts[list] = new
    return new[ObjectIdentifier(target)] ?? 0
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
