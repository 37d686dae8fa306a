import StoreEngine

/// Reads and writes a property that refers to objects, independent of its type.
struct ReferenceAccess {
  enum Kind { case one, list, set }

  let kind: Kind
  /// Returns the referenced objects in their order.
  let targets: (StoredObject) -> [StoredObject]
  let setTargets: (StoredObject, [StoredObject]) -> Void
  /// Returns the target of a reference to one object; nil for other kinds.
  let target: (StoredObject) -> StoredObject?
  let setTarget: (StoredObject, StoredObject?) -> Void
  /// Changes a list or a set, and returns the elements that deletions removed from it.
  ///
  /// The object is notified before anything changes.
  let change: (StoredObject, [ListChange]) -> [LostElement]
}

extension ReferenceAccess {
  /// Accesses a reference to one object.
  init<Source: StoredObject, Target: StoredObject>(
    one property: ReferenceWritableKeyPath<Source, Target?>
  ) {
    kind = .one
    target = { ($0 as? Source)?[keyPath: property] }
    setTarget = { source, target in
      (source as? Source)?[keyPath: property] = target as? Target
    }
    targets = { ($0 as? Source)?[keyPath: property].map { [$0] } ?? [] }
    setTargets = { source, targets in
      (source as? Source)?[keyPath: property] = targets.first as? Target
    }
    change = { _, _ in [] }
  }

  /// Accesses a list.
  init<
    Source: StoredObject, Target: StoredObject,
    List: RangeReplaceableCollection & RandomAccessCollection
  >(list property: ReferenceWritableKeyPath<Source, List>) where List.Element == Target {
    kind = .list
    targets = { ($0 as? Source)?[keyPath: property].map { $0 as StoredObject } ?? [] }
    setTargets = { source, targets in
      (source as? Source)?[keyPath: property] = List(targets.lazy.compactMap { $0 as? Target })
    }
    (target, setTarget) = ({ _ in nil }, { _, _ in })
    change = { source, changes in
      guard let source = source as? Source else { return [] }
      return Self.change(source, property, changes)
    }
  }

  private static func change<
    Source: StoredObject, List: RangeReplaceableCollection & RandomAccessCollection
  >(
    _ source: Source, _ property: ReferenceWritableKeyPath<Source, List>, _ changes: [ListChange]
  ) -> [LostElement] where List.Element: StoredObject {
    func changed(_ list: List) -> (List, [LostElement])? {
      guard let packed = list as? ObjectList<List.Element> else {
        return ObjectList.applying(changes, to: list)
      }
      guard let (list, lost) = packed.applying(changes), let list = list as? List else {
        return nil
      }
      return (list, lost)
    }
    guard var result = changed(source[keyPath: property]) else { return [] }
    if source.store?.delegate != nil {
      // The delegate is notified first, and may change the list itself.
      source.willChange()
      guard let again = changed(source[keyPath: property]) else {
        source.didModify()
        return []
      }
      result = again
    }
    source[keyPath: property] = result.0
    return result.1
  }

  /// Accesses a set.
  init<Source: StoredObject, Target: StoredObject>(
    set property: ReferenceWritableKeyPath<Source, Set<Target>>
  ) {
    kind = .set
    targets = { ($0 as? Source)?[keyPath: property].map { $0 as StoredObject } ?? [] }
    setTargets = { source, targets in
      (source as? Source)?[keyPath: property] = Set(targets.lazy.compactMap { $0 as? Target })
    }
    (target, setTarget) = ({ _ in nil }, { _, _ in })
    change = { source, changes in
      guard let source = source as? Source else { return [] }
      return Self.change(source, property, changes)
    }
  }

  private static func change<Source: StoredObject, Target: StoredObject>(
    _ source: Source, _ property: ReferenceWritableKeyPath<Source, Set<Target>>,
    _ changes: [ListChange]
  ) -> [LostElement] {
    let set = source[keyPath: property]
    let isChanged = changes.contains { change in
      guard let object = change.object as? Target else { return false }
      return change.isPresent != set.contains(object)
    }
    guard isChanged else { return [] }
    source.willChange()
    var lost: [LostElement] = []
    var changed = source[keyPath: property]
    for change in changes {
      guard let object = change.object as? Target else { continue }
      if change.isPresent {
        changed.insert(object)
      } else if changed.remove(object) != nil, case .deletion = change.kind {
        lost.append(LostElement(object: object, index: 0))
      }
    }
    source[keyPath: property] = changed
    return lost
  }
}

extension ObjectList {
  /// Returns the changed list and the elements that deletions removed; nil if nothing changes.
  ///
  /// Creates no objects for a packed list.
  fileprivate func applying(_ changes: [ListChange]) -> (ObjectList, [LostElement])? {
    guard case .packed(var references) = storage else {
      return Self.applying(changes, to: array).map { (ObjectList($0), $1) }
    }
    let change = references.effect(of: changes)
    if change.isEmpty { return nil }
    let new = change.inserted.map(\.object) + change.appendedObjects
    guard new.allSatisfy(references.canPack) else {
      return (ObjectList(change.applied(to: array) { $0 as? Element }), change.lost)
    }
    references.apply(change, new: new)
    return (ObjectList(packed: references), change.lost)
  }

  fileprivate static func applying<List: RangeReplaceableCollection & RandomAccessCollection>(
    _ changes: [ListChange], to list: List
  ) -> (List, [LostElement])? where List.Element == Element {
    func key(_ object: StoredObject) -> ChangedList.Key {
      ChangedList.Key(UInt(bitPattern: ObjectIdentifier(object)))
    }
    let change = ChangedList(list.lazy.map(key), changes, key: key)
    if change.isEmpty { return nil }
    return (List(change.applied(to: list) { $0 as? Element }), change.lost)
  }
}
