// Breaks the reference cycles that the store can find.

import StoreEngine

extension Store {
  /// Removes references from saved deleted objects to objects that were deleted before them.
  ///
  /// No cycle of deleted objects remains. An object that the application holds keeps the objects
  /// that were deleted after it, such as an album the songs that its rule deleted.
  func separateDeleted() {
    let deleted = deletions.takeDeleted()
    if deleted.isEmpty { return }
    var later = Set(deleted.lazy.map { ObjectIdentifier($0) })
    for object in deleted {
      later.remove(ObjectIdentifier(object))
      guard object.state.contains(.departed) else { continue }
      ReferenceLayout.of(type(of: object))?.removeObjects(heldBy: object) { held in
        held.state.contains(.departed) && !later.contains(ObjectIdentifier(held))
      }
    }
  }
}
