import StoreEngine

extension Store {
  /// Tells the delegate, if there is one, which may then do with the store what it likes.
  func tell(_ call: (any StoreDelegate) -> Void) {
    guard let delegate else { return }
    guard let relationships else { return call(delegate) }
    relationships.interrupted { call(delegate) }
  }

  /// Tells the delegate that the unsaved changes are others than before.
  ///
  /// Not in the middle of a deletion, or while inverses are brought up to date: it may save.
  func tellDidChange() {
    hasChangeToTell = deletions.depth > 0 || relationships?.isSettling == true
    if hasChangeToTell { return }
    updateLiveQueries()
    tell { $0.storeDidChange(self) }
  }

  /// Tells the delegate of an object.
  ///
  /// - Returns: false if it is being told of the object already, which is then its second call.
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
  /// How many deletions may be inside of each other.
  static let maximumDepth = 32

  private var objects: [StoredObject] = []
  /// How many are.
  var depth = 0

  /// All objects that were deleted since the last save, in order, and some that are back.
  private var deleted: [StoredObject] = []

  mutating func append(_ object: StoredObject) {
    objects.append(object)
    note(object)
  }

  /// An object is deleted, and no rules have to run.
  mutating func note(_ object: StoredObject) { deleted.append(object) }

  mutating func takeLast() -> StoredObject? { objects.popLast() }

  mutating func takeDeleted() -> [StoredObject] {
    defer { deleted = [] }
    return deleted
  }
}
