// Objects in cycles hold each other. What the store can tell about them, it frees.

import StoreEngine

extension Store {
  /// Objects were deleted, and are saved so: none refers to one that was deleted before it.
  ///
  /// So no cycle of them stays. One that an application holds keeps what was deleted after it, as
  /// an album keeps the songs that its rule has deleted.
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
