import StoreEngine

extension Store {
  /// Brings inverses up to date, see ``Relationship``.
  @inline(__always) func settleRelationships() {
    guard let relationships, relationships.hasWork else { return }
    relationships.settle()
    if hasChangeToTell { tellDidChange() } else { updateLiveQueries() }
  }

  /// The same of those that an object has to do with, before it is read, edited or deleted.
  func settleRelationships(of object: StoredObject) {
    guard let relationships, relationships.hasWork else { return }
    relationships.settle(object)
    if hasChangeToTell { tellDidChange() } else { updateLiveQueries() }
  }

  /// The same, before a property of an object is read.
  func settleRelationships(beforeReading object: StoredObject) {
    guard let relationships, relationships.hasWork, !isRestoring, !isEncoding,
      !object.state.contains(.loading)
    else { return }
    relationships.settle(object, unlessItIsAllThatWasEdited: true)
    if hasChangeToTell { tellDidChange() } else { updateLiveQueries() }
  }

  /// Classes have been registered; relationships cost nothing where no class has any.
  func learnRelationships(of entries: some Collection<RegisteredClass>) {
    guard relationships != nil || entries.contains(where: { !$0.type.relationships.isEmpty })
    else { return }
    settleRelationships()
    let keeper = relationships ?? RelationshipKeeper()
    relationships = keeper
    keeper.learn(classes)
  }

  /// An object is about to be edited, the first time since inverses were up to date.
  func trackEdit(of object: StoredObject, _ entry: RegisteredClass) {
    settleRelationships(of: object)
    relationships?.willEdit(object, entry)
    if !object.state.contains(.deleted) { object.state.insert(.editable) }
  }

  /// Whether an edit of the object has to be followed by its other sides.
  func isTracked(_ object: StoredObject) -> Bool {
    guard object.state.contains(.attentive), let relationships else { return false }
    return !relationships.isSettling && !isRestoring
  }
}

extension RegisteredClass {
  /// Whether the class is another, or inherits from it.
  func isKind(of other: StoredObject.Type) -> Bool { type.isKind(of: other) }

  /// From now on reading and changing an object of the class has more to do.
  func makeAttentive() {
    specialState.insert(.attentive)
    for object in livingObjects { object.state.insert(.attentive) }
  }
}

extension StoredObject {
  /// Whether the class is another, or inherits from it.
  final class func isKind(of other: StoredObject.Type) -> Bool {
    var type: AnyClass? = self
    while let current = type {
      if current == other { return true }
      type = _getSuperclass(current)
    }
    return false
  }

  /// The row that the object is.
  var key: ObjectKey? {
    registration.map { ObjectKey(classID: $0.classID, rowID: rowID) }
  }
}
