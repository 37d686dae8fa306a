import StoreEngine

extension Store {
  /// Updates inverses, see ``Relationship``.
  @inline(__always) func settleRelationships() {
    guard let relationships, relationships.hasWork else { return }
    relationships.settle()
    if hasChangeToTell { tellDidChange() } else { updateLiveQueries() }
  }

  /// Updates the inverses that affect an object, before it is read, edited or deleted.
  func settleRelationships(of object: StoredObject) {
    guard let relationships, relationships.hasWork else { return }
    relationships.settle(object)
    if hasChangeToTell { tellDidChange() } else { updateLiveQueries() }
  }

  /// Updates the inverses that affect an object, before one of its properties is read.
  func settleRelationships(beforeReading object: StoredObject) {
    guard let relationships, relationships.hasWork, !isRestoring, !isEncoding,
      !object.state.contains(.loading)
    else { return }
    relationships.settle(object, unlessItIsAllThatWasEdited: true)
    if hasChangeToTell { tellDidChange() } else { updateLiveQueries() }
  }

  /// Adds the relationships of newly registered classes; does nothing if no class has any.
  func learnRelationships(of entries: some Collection<RegisteredClass>) {
    guard relationships != nil || entries.contains(where: { !$0.type.relationships.isEmpty })
    else { return }
    settleRelationships()
    let keeper = relationships ?? RelationshipKeeper()
    relationships = keeper
    keeper.learn(classes)
  }

  /// Records an object that is about to be edited, the first time since inverses were updated.
  func trackEdit(of object: StoredObject, _ entry: RegisteredClass) {
    settleRelationships(of: object)
    relationships?.willEdit(object, entry)
    if !object.state.contains(.deleted) { object.state.insert(.editable) }
  }

  /// Whether an edit of the object has to be tracked to update inverses.
  func isTracked(_ object: StoredObject) -> Bool {
    guard object.state.contains(.attentive), let relationships else { return false }
    return !relationships.isSettling && !isRestoring
  }
}

extension RegisteredClass {
  /// Whether the class is another class or inherits from it.
  func isKind(of other: StoredObject.Type) -> Bool { type.isKind(of: other) }

  /// Marks the class and its objects as having relationships.
  func makeAttentive() {
    specialState.insert(.attentive)
    for object in livingObjects { object.state.insert(.attentive) }
  }
}

extension StoredObject {
  /// Whether the class is another class or inherits from it.
  final class func isKind(of other: StoredObject.Type) -> Bool {
    var type: AnyClass? = self
    while let current = type {
      if current == other { return true }
      type = _getSuperclass(current)
    }
    return false
  }

  /// The class ID and row ID of the object; nil while it is in no store.
  var key: ObjectKey? {
    registration.map { ObjectKey(classID: $0.classID, rowID: rowID) }
  }
}
