import FoundationEssentials
import StoreEngine

/// A value that may hold objects, and that can be emptied.
protocol ReferenceHolder {
  /// The types of the values it holds.
  static var heldTypes: [Any.Type] { get }
  /// The class of the referenced object, if the value is a reference or nil.
  static var referredClass: AnyClass? { get }
  /// Moves the objects into a queue.
  mutating func release(into queue: ReleaseQueue)
  /// Visits the objects that only this value holds, once for each reference; may skip some.
  mutating func visitObjects(_ body: (StoredObject) -> Void)
  /// Removes the objects that match a predicate.
  mutating func removeObjects(where isRemoved: (StoredObject) -> Bool)
}

extension ReferenceHolder {
  static var referredClass: AnyClass? { nil }
  mutating func visitObjects(_ body: (StoredObject) -> Void) {}
  mutating func removeObjects(where isRemoved: (StoredObject) -> Bool) {}
}

extension Optional: ReferenceHolder {
  static var heldTypes: [Any.Type] { [Wrapped.self] }
  static var referredClass: AnyClass? { Wrapped.self as? AnyClass }

  mutating func release(into queue: ReleaseQueue) {
    if let value = take() { queue.append(value) }
  }

  mutating func removeObjects(where isRemoved: (StoredObject) -> Bool) {
    if let object = self as? StoredObject, isRemoved(object) { self = nil }
  }
}

extension Array: ReferenceHolder {
  static var heldTypes: [Any.Type] { [Element.self] }

  mutating func release(into queue: ReleaseQueue) {
    if isEmpty { return }
    queue.append(self)
    self = []
  }

  mutating func visitObjects(_ body: (StoredObject) -> Void) {
    guard Element.self is StoredObject.Type, isSoleHolder(&self) else { return }
    for case let object as StoredObject in self { body(object) }
  }

  mutating func removeObjects(where isRemoved: (StoredObject) -> Bool) {
    guard Element.self is StoredObject.Type else { return }
    func isToGo(_ element: Element) -> Bool { (element as? StoredObject).map(isRemoved) ?? false }
    if contains(where: isToGo) { removeAll(where: isToGo) }
  }
}

extension Set: ReferenceHolder {
  static var heldTypes: [Any.Type] { [Element.self] }

  mutating func release(into queue: ReleaseQueue) {
    if isEmpty { return }
    queue.append(self)
    self = []
  }

  mutating func visitObjects(_ body: (StoredObject) -> Void) {
    guard Element.self is StoredObject.Type, isSoleHolder(&self) else { return }
    for case let object as StoredObject in self { body(object) }
  }

  mutating func removeObjects(where isRemoved: (StoredObject) -> Bool) {
    guard Element.self is StoredObject.Type else { return }
    func isToGo(_ element: Element) -> Bool { (element as? StoredObject).map(isRemoved) ?? false }
    if contains(where: isToGo) { self = filter { !isToGo($0) } }
  }
}

extension Dictionary: ReferenceHolder {
  static var heldTypes: [Any.Type] { [Key.self, Value.self] }

  mutating func release(into queue: ReleaseQueue) {
    if isEmpty { return }
    queue.append(self)
    self = [:]
  }
}

extension ObjectList: ReferenceHolder {
  static var heldTypes: [Any.Type] { [Element.self] }

  mutating func release(into queue: ReleaseQueue) {
    if let objects = takeHeldObjects() { queue.append(objects) }
  }

  mutating func visitObjects(_ body: (StoredObject) -> Void) {
    switch take() {
    case .objects(var objects):
      objects.visitObjects(body)
      storage = .objects(objects)
    case .packed(let references): storage = .packed(references)
    }
  }

  mutating func removeObjects(where isRemoved: (StoredObject) -> Bool) {
    guard case .objects(var objects) = storage else { return }
    objects.removeObjects(where: isRemoved)
    storage = .objects(objects)
  }
}

/// Whether no other value shares the memory of a collection.
///
/// The standard library's collections are a single reference to their memory.
private func isSoleHolder<Value>(_ collection: inout Value) -> Bool {
  guard MemoryLayout<Value>.size == MemoryLayout<AnyObject?>.size else { return false }
  return unsafe withUnsafeMutablePointer(to: &collection) { pointer in
    unsafe pointer.withMemoryRebound(to: AnyObject?.self, capacity: 1) {
      unsafe isKnownUniquelyReferenced(&$0.pointee)
    }
  }
}

/// Whether a value of a type can hold an object.
///
/// True for a type that the runtime does not describe.
func canHoldObjects(_ type: Any.Type) -> Bool {
  // A structure may contain an array of its own type. There are few types, and the runtime would
  // take longer to make a set.
  var seen: [ObjectIdentifier] = []
  func canHoldObjects(_ type: Any.Type) -> Bool {
    if seen.contains(ObjectIdentifier(type)) { return false }
    seen.append(ObjectIdentifier(type))
    if type == String.self || type == Data.self || isPlain(type) { return false }
    if type is AnyClass { return true }
    let properties = RuntimeProperty.all(of: type)
    let holdsObjects = properties.contains { $0.isStrong && canHoldObjects($0.type) }
    if !properties.isEmpty && !holdsObjects { return false }
    // Checked last: to find that there is no conformance, the runtime searches all conformances of
    // the program.
    guard let holder = type as? any ReferenceHolder.Type else { return true }
    return holder.heldTypes.contains(where: canHoldObjects)
  }
  return canHoldObjects(type)
}

/// Whether values of a type are plain bits without references.
private func isPlain(_ type: Any.Type) -> Bool {
  func isPlain<Value>(_ type: Value.Type) -> Bool { _isPOD(type) }
  return _openExistential(type, do: isPlain)
}
