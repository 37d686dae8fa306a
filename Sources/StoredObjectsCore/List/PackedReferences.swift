import StoreEngine

/// References to objects of one class, as they are in a record: the row IDs.
@usableFromInline struct PackedReferences {
  let entry: RegisteredClass
  private(set) var rowIDs: [UInt32]
  /// Objects among them that no save has written yet, by their rows.
  ///
  /// They are held, because their rows may never come to be: a save that finds one gone refuses.
  private var newObjects: [UInt32: StoredObject] = [:]

  init(_ entry: RegisteredClass, _ rowIDs: [UInt32]) {
    self.entry = entry
    self.rowIDs = rowIDs
  }

  /// The object at an index, or a fault.
  @inline(__always)
  func object(at index: Int) -> StoredObject {
    let rowID = rowIDs[index]
    // One that has been discarded since is in no store, and its row nobody's.
    if !newObjects.isEmpty, let new = newObjects[rowID] { return new }
    return entry.object(rowID)
  }

  /// The objects that the list holds; nil without any.
  var heldObjects: [StoredObject]? { newObjects.isEmpty ? nil : Array(newObjects.values) }

  /// Whether an object can be referred to by its row.
  func canPack(_ object: StoredObject) -> Bool {
    object.registration === entry && object.rowID > ClassMetadata.rowID
  }

  /// Replaces some references.
  ///
  /// - Precondition: ``canPack(_:)`` is true for all objects.
  mutating func replace(_ range: Range<Int>, with objects: some Collection<StoredObject>) {
    rowIDs.replaceSubrange(range, with: objects.lazy.map(\.rowID))
    for object in objects where object.state.contains(.inserted) {
      newObjects[object.rowID] = object
    }
  }

  /// Replaces all references by others, among which are some that were not there.
  ///
  /// - Precondition: ``canPack(_:)`` is true for the new objects.
  mutating func replaceAll(with rowIDs: [UInt32], new: [StoredObject]) {
    self.rowIDs = rowIDs
    for object in new where object.state.contains(.inserted) { newObjects[object.rowID] = object }
  }

  /// Removes the references to a row.
  mutating func removeAll(_ rowID: UInt32) { rowIDs.removeAll { $0 == rowID } }

  mutating func reserveCapacity(_ count: Int) { rowIDs.reserveCapacity(count) }

  mutating func move(from index: Int, to target: Int) {
    let rowID = rowIDs[index]
    // Shifts only what lies between.
    if index < target {
      for place in index..<target { rowIDs[place] = rowIDs[place + 1] }
    } else {
      for place in stride(from: index, to: target, by: -1) { rowIDs[place] = rowIDs[place - 1] }
    }
    rowIDs[target] = rowID
  }

  /// The first object among them that a save can't refer to, or nil.
  func firstUnreferable() -> StoredObject? {
    if !newObjects.isEmpty {
      let new = rowIDs.lazy.compactMap { newObjects[$0] }
      if let gone = new.first(where: { $0.registration == nil }) { return gone }
    }
    if let store = entry.store, store.foreign.hasDeleted(entry.classID) {
      let objects = rowIDs.lazy.filter {
        store.foreign.isDeleted(ObjectKey(classID: entry.classID, rowID: $0))
      }.map { entry.object($0) }
      if let gone = objects.first(where: { store.isDeletedElsewhere($0, entry) }) { return gone }
    }
    guard entry.changeCounts.deletes > 0 else { return nil }
    return rowIDs.lazy.compactMap { entry.living($0) }.first { $0.state.contains(.deleted) }
  }
}
