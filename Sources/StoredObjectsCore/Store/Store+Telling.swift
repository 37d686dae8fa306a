import StoreEngine

extension Store {
  /// Calls the delegate, if there is one; it may do anything with the store.
  func tell(_ call: (any StoreDelegate) -> Void) {
    guard let delegate else { return }
    guard let relationships else { return call(delegate) }
    relationships.interrupted { call(delegate) }
  }

  /// Notifies the delegate that the unsaved changes have changed.
  ///
  /// Postponed during a deletion, or while inverses are updated: the delegate may save.
  func tellDidChange() {
    hasChangeToTell = deletions.depth > 0 || relationships?.isSettling == true
    if hasChangeToTell { return }
    if liveQueries != nil { updateLiveQueries() }
    tell { $0.storeDidChange(self) }
  }

  /// Calls the delegate about an object.
  ///
  /// - Returns: false if a call about the object is already under way.
  @discardableResult
  func tell(_ object: StoredObject, _ call: (any StoreDelegate) -> Void) -> Bool {
    if delegate == nil { return true }
    if announced.contains(where: { $0 === object }) { return false }
    announced.append(object)
    tell(call)
    announced.removeAll { $0 === object }
    return true
  }
}

/// Objects whose delete rules have not run yet.
struct Deletions {
  /// The maximum nesting depth of deletions.
  static let maximumDepth = 32

  private var objects: [StoredObject] = []
  /// The current nesting depth.
  var depth = 0

  /// All objects deleted since the last save, in order, including some that were restored.
  private var deleted: [StoredObject] = []

  mutating func append(_ object: StoredObject) {
    objects.append(object)
    note(object)
  }

  /// Adds an object that is deleted without running its rules.
  mutating func note(_ object: StoredObject) { deleted.append(object) }

  mutating func takeLast() -> StoredObject? { objects.popLast() }

  mutating func takeDeleted() -> [StoredObject] {
    defer { deleted = [] }
    return deleted
  }
}
