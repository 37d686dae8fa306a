import StoreEngine

extension ReferenceLayout {
  /// Removes the references of an object that stays in memory.
  ///
  /// Properties that can't be emptied keep theirs.
  func dissolve(_ object: StoredObject, contentOnly: Bool, into queue: ReleaseQueue) {
    let memory = StoredObject.Memory(of: object)
    for reference in references
    where reference.isOptional && (reference.isContent || !contentOnly) {
      memory.withValue(at: reference.offset, as: AnyObject?.self) { held in
        if let held = held.take() { queue.append(held) }
      }
    }
    for holder in holders where holder.isContent || !contentOnly {
      release(holder.type, holder.offset, memory, queue)
    }
  }

  /// Visits the objects that an object holds, once for each reference; may skip some.
  func visitObjects(heldBy object: StoredObject, _ body: (StoredObject) -> Void) {
    let memory = StoredObject.Memory(of: object)
    for reference in references {
      let held = memory.withValue(at: reference.offset, as: AnyObject?.self) { $0 }
      if let held = held as? StoredObject { body(held) }
    }
    for holder in holders { visit(holder.type, holder.offset, memory, body) }
  }

  private func visit<Holder: ReferenceHolder>(
    _ type: Holder.Type, _ offset: Int, _ memory: StoredObject.Memory,
    _ body: (StoredObject) -> Void
  ) {
    memory.withValue(at: offset, as: type) { $0.visitObjects(body) }
  }

  /// Removes matching objects from the references of an object.
  func removeObjects(
    heldBy object: StoredObject, where isRemoved: (StoredObject) -> Bool
  ) {
    let memory = StoredObject.Memory(of: object)
    for reference in references where reference.isOptional {
      let held = memory.withValue(at: reference.offset, as: AnyObject?.self) { $0 }
      guard let held = held as? StoredObject, isRemoved(held) else { continue }
      memory.withValue(at: reference.offset, as: AnyObject?.self) { $0 = nil }
    }
    for holder in holders { remove(holder.type, holder.offset, memory, isRemoved) }
  }

  private func remove<Holder: ReferenceHolder>(
    _ type: Holder.Type, _ offset: Int, _ memory: StoredObject.Memory,
    _ isRemoved: (StoredObject) -> Bool
  ) {
    memory.withValue(at: offset, as: type) { $0.removeObjects(where: isRemoved) }
  }
}
