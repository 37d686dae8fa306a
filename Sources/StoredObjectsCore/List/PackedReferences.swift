import StoreEngine

/// References to objects of a class and its subclasses, as they are in a record.
@usableFromInline struct PackedReferences {
  let entry: RegisteredClass
  private(set) var rowIDs: [UInt32]
  /// The parts that few lists have; nil if all objects are saved ones of exactly the class.
  ///
  /// Behind one reference, so that a list has three words. The compiler copies those in place, but
  /// calls the runtime to copy five.
  private var extras: PackedReferenceExtras?

  /// A class ID and a row ID in a single number.
  typealias Key = ChangedList.Key

  init(_ entry: RegisteredClass, _ rowIDs: [UInt32]) {
    self.entry = entry
    self.rowIDs = rowIDs
  }

  init(
    _ entry: RegisteredClass, _ rowIDs: [UInt32], classIDs: [UInt8], subclasses: [RegisteredClass]
  ) {
    self.init(entry, rowIDs)
    extras = PackedReferenceExtras(classIDs: classIDs, subclasses: subclasses)
  }

  /// Returns the object at an index, or a fault.
  @inline(__always)
  func object(at index: Int) -> StoredObject {
    guard extras == nil else { return object(withExtrasAt: index) }
    entry.faultsAhead?.note(rowIDs, index)
    return entry.object(rowIDs[index])
  }

  private func object(withExtrasAt index: Int) -> StoredObject {
    // A new object that has been discarded is in no store, and its row ID belongs to no object.
    if !newObjects.isEmpty, let new = newObjects[key(at: index)] { return new }
    if classIDs.isEmpty { entry.faultsAhead?.note(rowIDs, index) }
    return entry(at: index).object(rowIDs[index])
  }

  /// The objects that the list retains; nil if there are none.
  var heldObjects: [StoredObject]? { newObjects.isEmpty ? nil : Array(newObjects.values) }

  /// Whether an object can be referred to by its class and row.
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
    if !classIDs.isEmpty { ownExtras().classIDs.reserveCapacity(count) }
  }
}

// MARK: - Extras

/// The parts of ``PackedReferences`` that few lists have.
private final class PackedReferenceExtras {
  var classIDs: [UInt8]
  var subclasses: [RegisteredClass]
  var newObjects: [PackedReferences.Key: StoredObject]

  init(
    classIDs: [UInt8] = [], subclasses: [RegisteredClass] = [],
    newObjects: [PackedReferences.Key: StoredObject] = [:]
  ) {
    (self.classIDs, self.subclasses) = (classIDs, subclasses)
    self.newObjects = newObjects
  }

  var copy: PackedReferenceExtras {
    PackedReferenceExtras(classIDs: classIDs, subclasses: subclasses, newObjects: newObjects)
  }
}

extension PackedReferences {
  /// The class ID of each object; empty if all objects are of exactly the class.
  var classIDs: [UInt8] { extras?.classIDs ?? [] }

  /// The subclasses of the objects, kept here because the list may outlive the store.
  private var subclasses: [RegisteredClass] { extras?.subclasses ?? [] }

  /// The objects that no save has written yet.
  ///
  /// They are retained, because their rows may never be written. A save fails if one of them is no
  /// longer in the store.
  private var newObjects: [Key: StoredObject] { extras?.newObjects ?? [:] }

  /// Returns the extras of this list alone, to change them.
  private mutating func ownExtras() -> PackedReferenceExtras {
    if isKnownUniquelyReferenced(&extras), let extras { return extras }
    let own = extras?.copy ?? PackedReferenceExtras()
    extras = own
    return own
  }
}

// MARK: - Classes

extension PackedReferences {
  /// Returns the class of the object at an index.
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

  /// Returns the key of an object; nil if it can't be packed.
  func key(of object: StoredObject) -> Key? {
    guard canPack(object), let classID = object.registration?.classID else { return nil }
    return Self.key(classID, object.rowID)
  }

  /// The keys of all objects, in their order.
  private var keys: some BidirectionalCollection<Key> { rowIDs.indices.lazy.map(key(at:)) }

  /// The keys if all objects are of exactly the class, which is faster.
  private var plainKeys: some BidirectionalCollection<Key> {
    let start = Self.key(entry.classID, 0)
    return rowIDs.lazy.map { start | Key($0) }
  }

  /// Returns the IDs of all objects.
  func ids<Object: StoredObject>() -> [ObjectID<Object>] {
    rowIDs.indices.map { ObjectID(className: entry(at: $0).name, rowID: rowIDs[$0]) }
  }

  /// Returns the effect of changes on the list.
  func effect(of changes: [ListChange]) -> ChangedList {
    classIDs.isEmpty
      ? ChangedList(plainKeys, changes, key: key(of:)) : ChangedList(keys, changes, key: key(of:))
  }

  /// Applies changes whose new objects can be packed.
  mutating func apply(_ change: ChangedList, new: [StoredObject]) {
    if prepareClasses(for: new) {
      replaceAll(with: change.applied(to: keys, element: key(of:)))
    } else {
      rowIDs = change.applied(to: rowIDs) { $0.rowID }
    }
    hold(new)
  }

  /// Adds class IDs for the objects, if some are of subclasses.
  ///
  /// - Returns: Whether class IDs are kept. An empty list can't tell by its class IDs.
  private mutating func prepareClasses(for objects: some Collection<StoredObject>) -> Bool {
    var hasClasses = !classIDs.isEmpty
    for object in objects {
      guard let other = object.registration, other !== entry else { continue }
      let extras = ownExtras()
      if !subclasses.contains(where: { $0 === other }) { extras.subclasses.append(other) }
      if !hasClasses { extras.classIDs = Array(repeating: entry.classID, count: rowIDs.count) }
      hasClasses = true
    }
    return hasClasses
  }

  /// Whether both lists refer to the same objects in the same order.
  func hasSameObjects(as other: PackedReferences) -> Bool {
    rowIDs == other.rowIDs
      && (classIDs == other.classIDs || keys.elementsEqual(other.keys))
  }
}

// MARK: - Changes

extension PackedReferences {
  /// Replaces the references in a range.
  ///
  /// - Precondition: ``canPack(_:)`` is true for all objects.
  mutating func replace(_ range: Range<Int>, with objects: some Collection<StoredObject>) {
    let hasClasses = prepareClasses(for: objects)
    rowIDs.replaceSubrange(range, with: objects.lazy.map(\.rowID))
    if hasClasses {
      ownExtras().classIDs.replaceSubrange(
        range, with: objects.lazy.map { $0.registration?.classID ?? 0 })
    }
    hold(objects)
  }

  private mutating func replaceAll(with keys: [Key]) {
    rowIDs = keys.map { UInt32(truncatingIfNeeded: $0) }
    let isMixed = keys.contains { $0 >> 32 != Key(entry.classID) }
    if isMixed || !classIDs.isEmpty {
      ownExtras().classIDs = isMixed ? keys.map { UInt8(truncatingIfNeeded: $0 >> 32) } : []
    }
  }

  private mutating func hold(_ objects: some Collection<StoredObject>) {
    for object in objects where object.state.contains(.inserted) {
      if let key = key(of: object) { ownExtras().newObjects[key] = object }
    }
  }

  /// Removes all references to an object.
  mutating func removeAll(_ object: StoredObject) {
    guard let key = key(of: object) else { return }
    guard !classIDs.isEmpty else { return rowIDs.removeAll { $0 == object.rowID } }
    replaceAll(with: keys.filter { $0 != key })
  }

  mutating func move(from index: Int, to target: Int) {
    rowIDs.move(from: index, to: target)
    if !classIDs.isEmpty { ownExtras().classIDs.move(from: index, to: target) }
  }

  /// Returns the first index of an object, or nil.
  func firstIndex(of object: StoredObject) -> Int? {
    guard let key = key(of: object) else { return nil }
    if classIDs.isEmpty {
      return object.registration === entry ? rowIDs.firstIndex(of: object.rowID) : nil
    }
    return rowIDs.indices.first { self.key(at: $0) == key }
  }

  /// Returns the last index of an object, or nil.
  func lastIndex(of object: StoredObject) -> Int? {
    guard let key = key(of: object) else { return nil }
    if classIDs.isEmpty {
      return object.registration === entry ? rowIDs.lastIndex(of: object.rowID) : nil
    }
    return rowIDs.indices.last { self.key(at: $0) == key }
  }
}

extension Array {
  /// Moves an element, and shifts only the elements in between.
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
  /// Returns the first object in the list that a save can't refer to, or nil.
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
