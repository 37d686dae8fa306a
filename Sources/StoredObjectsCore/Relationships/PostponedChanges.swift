import StoreEngine

/// Changes to lists that are made once somebody looks at the lists.
struct PostponedChanges {
  private var listKeys: [ListKey: Int] = [:]
  private var lists: [ChangesOfList?] = []
  private var first = 0
  /// Whether a list may wait for something that was deleted to be taken out of it.
  private(set) var hasDeletions = false

  private struct ListKey: Hashable {
    let object: ObjectIdentifier
    let end: ObjectIdentifier
  }

  @inline(__always) var isEmpty: Bool { listKeys.isEmpty }

  /// Adds a change to those of a list; true if it is the first one.
  mutating func append(
    _ change: PostponedChange, of object: StoredObject, _ end: RelationshipEnd
  ) -> Bool {
    if case .change(let change) = change, case .deletion = change.kind { hasDeletions = true }
    let listKey = ListKey(object: ObjectIdentifier(object), end: ObjectIdentifier(end))
    if let index = listKeys[listKey] {
      lists[index]?.changes.append(change)
      return false
    }
    listKeys[listKey] = lists.count
    lists.append(ChangesOfList(object: object, end: end, changes: [change]))
    return true
  }

  /// Takes the changes of a list.
  mutating func take(_ object: StoredObject, _ end: RelationshipEnd) -> ChangesOfList? {
    let listKey = ListKey(object: ObjectIdentifier(object), end: ObjectIdentifier(end))
    guard let index = listKeys.removeValue(forKey: listKey) else { return nil }
    assert(lists[index]?.object === object && index >= first, "changes of another list")
    defer { if listKeys.isEmpty { (lists, first, hasDeletions) = ([], 0, false) } }
    return lists[index].take()
  }

  /// Takes the changes of the list that has waited longest.
  mutating func takeFirst() -> ChangesOfList? {
    while first < lists.count {
      if let next = lists[first] { return take(next.object, next.end) }
      first += 1
    }
    assert(listKeys.isEmpty, "changes of a list are lost")
    return nil
  }

  mutating func removeAll() { self = PostponedChanges() }
}

/// Changes to one list, in their order.
struct ChangesOfList {
  let object: StoredObject
  let end: RelationshipEnd
  var changes: [PostponedChange]
}

/// A change to a list.
enum PostponedChange {
  case change(ListChange)
  /// An object is inserted again that the list had lost.
  case restoration(Losses.List, Int)
}

extension RelationshipKeeper {
  /// Has a list changed once somebody looks at it.
  func postpone(_ change: ListChange, of object: StoredObject, _ end: RelationshipEnd) {
    postpone(.change(change), of: object, end)
  }

  func postpone(_ change: PostponedChange, of object: StoredObject, _ end: RelationshipEnd) {
    let isFirst = postponed.append(change, of: object, end)
    guard isFirst else { return }
    // Observers look when they hear of it.
    object.noteObservedChange()
    if object.registration == nil { objectsOutsideOfStore.append(object) }
  }

  /// Makes the changes that an object's lists wait for.
  func applyChanges(of object: StoredObject) {
    guard !postponed.isEmpty, let entry = entry(of: object) else { return }
    for end in ends(of: entry) where end.kind != .one {
      if let changes = postponed.take(object, end) { apply(changes) }
    }
  }

  private func entry(of object: StoredObject) -> RegisteredClass? {
    if let entry = object.registration { return entry }
    return ends.joined().first { $0.source.type == type(of: object) }?.source
  }

  /// Objects that are in no store don't say when they are read.
  func applyChangesOutsideOfStore() {
    while let object = objectsOutsideOfStore.popLast() { applyChanges(of: object) }
  }

  /// Whether another store has deleted an object that has not been read: reading it finds out.
  func isGone(_ object: StoredObject) -> Bool {
    guard object.state.isFault, let entry = object.registration else { return false }
    do {
      try object.fetchContent()
      return false
    } catch {
      // Any other failure is reported when somebody reads the property.
      return error.code == .recordMissing && entry.store?.isDeletedElsewhere(object, entry) == true
    }
  }

  /// Makes changes to a list.
  ///
  /// Not to one that another store has deleted since they were postponed, and that can't be read.
  func apply(_ list: ChangesOfList) {
    if isGone(list.object) { return }
    quietly {
      var changes: [ListChange] = []
      var hasRemovals = false
      var restorations: [(list: Losses.List, index: Int)] = []
      for change in list.changes {
        switch change {
        case .change(let change):
          if !change.isPresent {
            if !restorations.isEmpty {
              restore(&restorations, list)
              make(&changes, list)
            }
            hasRemovals = true
          }
          changes.append(change)
        case .restoration(let losses, let index):
          // What is added behind the others is there after this as well.
          if hasRemovals { make(&changes, list) }
          hasRemovals = false
          restorations.append((losses, index))
        }
      }
      if !restorations.isEmpty { restore(&restorations, list) }
      make(&changes, list)
    }
  }

  private func make(_ changes: inout [ListChange], _ list: ChangesOfList) {
    if changes.isEmpty { return }
    let lost = list.end.relationship.access.change(list.object, changes)
    losses.append(lost, of: list.object, list.end)
    // Where nothing changed, the save rests on what the object is here.
    list.object.store?.relyOn(list.object)
    changes = []
  }

  /// Puts back what a list has lost, the last losses first, since indices are those of then.
  private func restore(
    _ restorations: inout [(list: Losses.List, index: Int)], _ list: ChangesOfList
  ) {
    let groups = Dictionary(grouping: restorations) { $0.list.serial }
    for (_, group) in groups.sorted(by: { $0.key > $1.key }) {
      let changes = group[0].list.restorations(of: group.map(\.index))
      _ = list.end.relationship.access.change(list.object, changes)
    }
    restorations = []
  }
}
