import StoreEngine

/// Changes to lists that are postponed until the lists are accessed.
struct PostponedChanges {
  private var listKeys: [ListKey: Int] = [:]
  private var lists: [ChangesOfList?] = []
  private var first = 0
  /// Whether a list may be waiting for the removal of a deleted object.
  private(set) var hasDeletions = false

  private struct ListKey: Hashable {
    let object: ObjectIdentifier
    let end: ObjectIdentifier
  }

  @inline(__always) var isEmpty: Bool { listKeys.isEmpty }

  /// Adds a change to a list.
  ///
  /// - Returns: Whether it is the first change to the list.
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

  /// Removes and returns the changes to a list.
  mutating func take(_ object: StoredObject, _ end: RelationshipEnd) -> ChangesOfList? {
    let listKey = ListKey(object: ObjectIdentifier(object), end: ObjectIdentifier(end))
    guard let index = listKeys.removeValue(forKey: listKey) else { return nil }
    assert(lists[index]?.object === object && index >= first, "changes of another list")
    defer { if listKeys.isEmpty { (lists, first, hasDeletions) = ([], 0, false) } }
    return lists[index].take()
  }

  /// Removes and returns the changes to the list that has waited longest.
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

/// The changes to one list, in their order.
struct ChangesOfList {
  let object: StoredObject
  let end: RelationshipEnd
  var changes: [PostponedChange]
}

/// A change to a list.
enum PostponedChange {
  case change(ListChange)
  /// Inserts an object again that the list had lost.
  case restoration(Losses.List, Int)
}

extension RelationshipKeeper {
  /// Postpones a change to a list until the list is accessed.
  func postpone(_ change: ListChange, of object: StoredObject, _ end: RelationshipEnd) {
    postpone(.change(change), of: object, end)
  }

  func postpone(_ change: PostponedChange, of object: StoredObject, _ end: RelationshipEnd) {
    let isFirst = postponed.append(change, of: object, end)
    guard isFirst else { return }
    // Observers read the list when they are notified.
    object.noteObservedChange()
    if object.registration == nil { objectsOutsideOfStore.append(object) }
  }

  /// Applies the postponed changes to an object's lists.
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

  /// Applies the changes of objects in no store, because reading those is not reported.
  func applyChangesOutsideOfStore() {
    while let object = objectsOutsideOfStore.popLast() { applyChanges(of: object) }
  }

  /// Whether an unread object was deleted by another store; reads the object to find out.
  func isGone(_ object: StoredObject) -> Bool {
    guard object.state.isFault, let entry = object.registration else { return false }
    do {
      try object.fetchContent()
      return false
    } catch {
      // Any other failure is reported when the property is read.
      return error.code == .recordMissing && entry.store?.isDeletedElsewhere(object, entry) == true
    }
  }

  /// Applies the postponed changes to a list.
  ///
  /// Does nothing if another store has deleted the object meanwhile and it can't be read.
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
          // A restoration does not affect appended elements, so only removals have to come before
          // it.
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
    // If nothing changed, the save still depends on the content of the object.
    list.object.store?.relyOn(list.object)
    changes = []
  }

  /// Restores lost elements of a list, the latest losses first.
  ///
  /// The index of an element refers to the list at the time of its loss.
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
