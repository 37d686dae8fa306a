import StoreEngine

/// A relationship of a registered class, with its other side.
final class RelationshipEnd {
  var relationship: Relationship
  /// The class whose objects have the property.
  unowned let source: RegisteredClass
  /// The index of the inverse among the ends of each class, by class ID; -1 if there is none.
  var inverseIndices: [Int] = []
  /// The index of references by target, built on first use; not kept if there is an inverse.
  var index = CommitBound<ReferenceIndex>()
  /// Whether the index includes saved references, not only unsaved ones.
  var knowsSaved = false
  /// The number of look-ups in an attribute index instead of this one.
  var lookUpCount = 0

  init(_ relationship: Relationship, of source: RegisteredClass) {
    (self.relationship, self.source) = (relationship, source)
  }

  var kind: ReferenceAccess.Kind { relationship.access.kind }
  var hasInverse: Bool { relationship.inverse != nil }
  /// Whether the references that an edit adds and removes have to be determined.
  var isWatched: Bool { hasInverse || index.value != nil }

  func targets(of object: StoredObject) -> [StoredObject] { relationship.access.targets(object) }

  func setTargets(of object: StoredObject, _ targets: [StoredObject]) {
    relationship.access.setTargets(object, targets)
  }

  /// Returns the object that an end of kind `one` refers to.
  func target(of object: StoredObject) -> StoredObject? { relationship.access.target(object) }

  func setTarget(of object: StoredObject, _ target: StoredObject?) {
    relationship.access.setTarget(object, target)
  }

  /// Returns the references of an object, for a later comparison.
  func value(of object: StoredObject) -> Value {
    kind == .one ? .one(target(of: object)) : .many(targets(of: object))
  }

  enum Value {
    case one(StoredObject?)
    case many([StoredObject])
  }
}

/// Counts of new objects in lists that the application has filled itself.
///
/// Each list is read once, even if many of its objects are new.
struct FilledLists {
  /// The new objects, if existing objects were edited as well.
  let inserted: Set<ObjectIdentifier>
  private var counts: [List: [ObjectIdentifier: Int]] = [:]

  private struct List: Hashable {
    let object: ObjectIdentifier
    let end: ObjectIdentifier
  }

  init(inserted: Set<ObjectIdentifier>) { self.inserted = inserted }

  /// Returns how often a list contains a new object.
  ///
  /// - Precondition: the objects exist for as long as this value.
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

/// An index of the objects that may refer to an object, by row.
///
/// It may contain too many rows but never too few, so removed references need not be reported.
struct ReferenceIndex {
  private var sources: [ObjectKey: [UInt32]] = [:]

  /// Adds a reference.
  mutating func note(_ source: UInt32, refersTo target: ObjectKey) {
    if sources[target]?.last != source { sources[target, default: []].append(source) }
  }

  /// Returns the rows that may refer to an object, each once, in ascending order.
  func candidates(for target: ObjectKey) -> [UInt32] { Set(sources[target] ?? []).sorted() }
}
