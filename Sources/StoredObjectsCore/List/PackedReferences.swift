import StoreEngine

/// References to objects of one class and its subclasses, as they are in a record.
@usableFromInline struct PackedReferences {
  let entry: RegisteredClass
  private(set) var rowIDs: [UInt32]
  /// The class of each object; none where all are of exactly the class.
  private(set) var classIDs: [UInt8]
  /// The subclasses among them, which the store need not be asked for: the list may outlive it.
  private var subclasses: [RegisteredClass]
  /// Objects among them that no save has written yet.
  ///
  /// They are held, because their rows may never come to be: a save that finds one gone refuses.
  private var newObjects: [Key: StoredObject] = [:]

  /// A class ID and a row ID in one number.
  typealias Key = ChangedList.Key

  init(
    _ entry: RegisteredClass, _ rowIDs: [UInt32], classIDs: [UInt8] = [],
    subclasses: [RegisteredClass] = []
  ) {
    self.entry = entry
    self.rowIDs = rowIDs
    (self.classIDs, self.subclasses) = (classIDs, subclasses)
  }

  /// The object at an index, or a fault.
  @inline(__always)
  func object(at index: Int) -> StoredObject {
    // One that has been discarded since is in no store, and its row nobody's.
    if !newObjects.isEmpty, let new = newObjects[key(at: index)] { return new }
    return entry(at: index).object(rowIDs[index])
  }

  /// The objects that the list holds; nil without any.
  var heldObjects: [StoredObject]? { newObjects.isEmpty ? nil : Array(newObjects.values) }

  /// Whether an object can be referred to by its class and its row.
  func canPack(_ object: StoredObject) -> Bool {
    guard object.rowID > ClassMetadata.rowID, let registration = object.registration else {
      return false
    }
    if registration === entry { return true }
    guard let store = entry.store, registration.store === store else { return false }
    return registration.isKind(of: entry.type)
  }

  mutating func reserveCapacity(_ count: Int) {
    rowIDs.reserveCapacity(count)
    if !classIDs.isEmpty { classIDs.reserveCapacity(count) }
  }
}

// MARK: - Classes

extension PackedReferences {
  /// The class of the object at an index.
  @inline(__always)
  private func entry(at index: Int) -> RegisteredClass {
    classIDs.isEmpty ? entry : entry(ofClass: classIDs[index])
  }

  private func entry(ofClass classID: UInt8) -> RegisteredClass {
    subclasses.first { $0.classID == classID } ?? entry
  }

  @inline(__always)
  private func key(at index: Int) -> Key {
    Self.key(classIDs.isEmpty ? entry.classID : classIDs[index], rowIDs[index])
  }

  private static func key(_ classID: UInt8, _ rowID: UInt32) -> Key {
    Key(classID) << 32 | Key(rowID)
  }

  /// The key of an object; nil for one that can't be packed.
  func key(of object: StoredObject) -> Key? {
    guard canPack(object), let classID = object.registration?.classID else { return nil }
    return Self.key(classID, object.rowID)
  }

  /// The keys of all objects, in their order.
  private var keys: some BidirectionalCollection<Key> { rowIDs.indices.lazy.map(key(at:)) }

  /// The keys where all objects are of exactly the class, which takes less time.
  private var plainKeys: some BidirectionalCollection<Key> {
    let start = Self.key(entry.classID, 0)
    return rowIDs.lazy.map { start | Key($0) }
  }

  /// The IDs of all objects.
  func ids<Object: StoredObject>() -> [ObjectID<Object>] {
    rowIDs.indices.map { ObjectID(className: entry(at: $0).name, rowID: rowIDs[$0]) }
  }

  /// What changes do to the list.
  func effect(of changes: [ListChange]) -> ChangedList {
    classIDs.isEmpty
      ? ChangedList(plainKeys, changes, key: key(of:)) : ChangedList(keys, changes, key: key(of:))
  }

  /// Makes changes whose new objects can be packed.
  mutating func apply(_ change: ChangedList, new: [StoredObject]) {
    if prepareClasses(for: new) {
      replaceAll(with: change.applied(to: keys, element: key(of:)))
    } else {
      rowIDs = change.applied(to: rowIDs) { $0.rowID }
    }
    hold(new)
  }

  /// Makes room for the classes of the objects, if some are of subclasses.
  ///
  /// - Returns: whether the class of each reference is kept. An empty list can't say so itself.
  private mutating func prepareClasses(for objects: some Collection<StoredObject>) -> Bool {
    var hasClasses = !classIDs.isEmpty
    for object in objects {
      guard let other = object.registration, other !== entry else { continue }
      if !subclasses.contains(where: { $0 === other }) { subclasses.append(other) }
      if !hasClasses { classIDs = Array(repeating: entry.classID, count: rowIDs.count) }
      hasClasses = true
    }
    return hasClasses
  }

  /// Whether both refer to the same objects in the same order.
  func hasSameObjects(as other: PackedReferences) -> Bool {
    rowIDs == other.rowIDs
      && (classIDs == other.classIDs || keys.elementsEqual(other.keys))
  }
}

// MARK: - Changes

extension PackedReferences {
  /// Replaces some references.
  ///
  /// - Precondition: ``canPack(_:)`` is true for all objects.
  mutating func replace(_ range: Range<Int>, with objects: some Collection<StoredObject>) {
    let hasClasses = prepareClasses(for: objects)
    rowIDs.replaceSubrange(range, with: objects.lazy.map(\.rowID))
    if hasClasses {
      classIDs.replaceSubrange(range, with: objects.lazy.map { $0.registration?.classID ?? 0 })
    }
    hold(objects)
  }

  private mutating func replaceAll(with keys: [Key]) {
    rowIDs = keys.map { UInt32(truncatingIfNeeded: $0) }
    let isMixed = keys.contains { $0 >> 32 != Key(entry.classID) }
    classIDs = isMixed ? keys.map { UInt8(truncatingIfNeeded: $0 >> 32) } : []
  }

  private mutating func hold(_ objects: some Collection<StoredObject>) {
    for object in objects where object.state.contains(.inserted) {
      if let key = key(of: object) { newObjects[key] = object }
    }
  }

  /// Removes the references to an object.
  mutating func removeAll(_ object: StoredObject) {
    guard let key = key(of: object) else { return }
    guard !classIDs.isEmpty else { return rowIDs.removeAll { $0 == object.rowID } }
    replaceAll(with: keys.filter { $0 != key })
  }

  mutating func move(from index: Int, to target: Int) {
    rowIDs.move(from: index, to: target)
    if !classIDs.isEmpty { classIDs.move(from: index, to: target) }
  }

  /// The first and the last index of an object.
  func firstIndex(of object: StoredObject) -> Int? {
    guard let key = key(of: object) else { return nil }
    if classIDs.isEmpty {
      return object.registration === entry ? rowIDs.firstIndex(of: object.rowID) : nil
    }
    return rowIDs.indices.first { self.key(at: $0) == key }
  }

  func lastIndex(of object: StoredObject) -> Int? {
    guard let key = key(of: object) else { return nil }
    if classIDs.isEmpty {
      return object.registration === entry ? rowIDs.lastIndex(of: object.rowID) : nil
    }
    return rowIDs.indices.last { self.key(at: $0) == key }
  }
}

extension Array {
  /// Moves an element; shifts only what lies between.
  fileprivate mutating func move(from index: Int, to target: Int) {
    let element = self[index]
    if index < target {
      for position in index..<target { self[position] = self[position + 1] }
    } else {
      for position in stride(from: index, to: target, by: -1) {
        self[position] = self[position - 1]
      }
    }
    self[target] = element
  }
}

// MARK: - Saving

extension PackedReferences {
  /// The first object among them that a save can't refer to, or nil.
  func firstUnreferable() -> StoredObject? {
    if !newObjects.isEmpty {
      let new = keys.lazy.compactMap { newObjects[$0] }
      if let gone = new.first(where: { $0.registration == nil }) { return gone }
    }
    guard !classIDs.isEmpty else { return firstDeleted(entry, rowIDs) }
    for entry in [entry] + subclasses {
      let rows = rowIDs.indices.lazy.filter { classIDs[$0] == entry.classID }.map { rowIDs[$0] }
      if let gone = firstDeleted(entry, rows) { return gone }
    }
    return nil
  }

  private func firstDeleted(
    _ entry: RegisteredClass, _ rowIDs: some Sequence<UInt32>
  ) -> StoredObject? {
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
