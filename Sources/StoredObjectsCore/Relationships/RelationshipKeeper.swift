import StoreEngine

/// Maintains both sides of relationships.
///
/// The first edit of an object copies its references. The changes are determined by comparison when
/// they are needed: before a save, a deletion or the end of an undo step, and before another object
/// of a class with relationships is read or changed. So editing a list costs as much
/// as without an inverse, and a single comparison covers any number of edits.
///
/// If the other side is a reference to one object, it is changed at once. Changes to a list or a
/// set are postponed until it is read or edited itself, and then applied together.
final class RelationshipKeeper {
  /// The ends of each class, by class ID; empty for the IDs of classes that are not registered.
  private(set) var ends: [[RelationshipEnd]] = []
  /// Edited objects whose other sides may be out of date.
  private var edits: [Edit] = []
  /// Changes to lists that have not been accessed since.
  var postponed = PostponedChanges()
  /// Objects in no store with postponed changes to their lists.
  var objectsOutsideOfStore: [StoredObject] = []
  /// The elements that deletions have removed from lists.
  var losses = Losses()
  /// Objects to delete because of the current deletion.
  var cascade: [StoredObject] = []
  var isCascading = false
  private(set) var isSettling = false
  /// Objects with a property that is being changed in place, and must not be read meanwhile.
  private var modified: [ObjectIdentifier] = []

  private struct Edit {
    let object: StoredObject
    let entry: RegisteredClass
    /// The references before the edit, by end; nil for a new object.
    let before: [RelationshipEnd.Value]?
  }

  /// Whether any inverse may be out of date and can be updated now.
  ///
  /// False while a property is being changed in place, such as a list that is sorted by properties
  /// of its elements.
  @inline(__always) var hasWork: Bool {
    !(edits.isEmpty && postponed.isEmpty) && !isSettling && modified.isEmpty
  }

  /// Whether a property is being changed in place.
  var isModifying: Bool { !modified.isEmpty }

  func beginModification(of object: StoredObject) { modified.append(ObjectIdentifier(object)) }

  func endModification(of object: StoredObject) {
    let id = ObjectIdentifier(object)
    if let index = modified.lastIndex(of: id) { modified.remove(at: index) }
  }

  /// Ends all modifications, even those whose end was not reported; called when a save begins.
  func endModifications() { modified.removeAll() }

  /// Whether this object is the only edited one.
  private func hasEditsOnly(of object: StoredObject) -> Bool {
    edits.count == 1 && edits[0].object === object && !edits[0].entry.refersToItself
  }

  @inline(__always)
  func ends(of entry: RegisteredClass) -> [RelationshipEnd] { ends[Int(entry.classID)] }
}

// MARK: - Classes

extension RelationshipKeeper {
  /// Determines the ends of all classes, in order of their IDs, after classes were registered.
  func learn(_ classes: [RegisteredClass]) {
    losses.removeAll()
    ends = Array(repeating: [], count: classes.last.map { Int($0.classID) + 1 } ?? 0)
    for entry in classes {
      ends[Int(entry.classID)] = entry.type.relationships.map { RelationshipEnd($0, of: entry) }
    }
    for end in ends.joined() where end.hasInverse {
      guard let implied = end.relationship.impliedInverse?() else {
        preconditionFailure(
          """
          The inverse of \(end.source.name)'s relationship to \(end.relationship.target) is not a \
          property that can be set, of type \(end.source.type)?, [\(end.source.type)] or \
          Set<\(end.source.type)>.
          """)
      }
      for entry in classes where entry.isKind(of: end.relationship.target) {
        let ends = ends(of: entry)
        guard let end = ends.first(where: { $0.relationship.property == implied.property }) else {
          self.ends[Int(entry.classID)].append(RelationshipEnd(implied, of: entry))
          continue
        }
        if !end.hasInverse { end.relationship = end.relationship.adopting(implied) }
      }
    }
    for end in ends.joined() {
      end.inverseIndices = ends.map { ends in
        guard let inverse = end.relationship.inverse else { return -1 }
        return ends.firstIndex { $0.relationship.property == inverse } ?? -1
      }
    }
    for entry in classes {
      let ends = ends(of: entry)
      entry.refersToItself = ends.contains { entry.isKind(of: $0.relationship.target) }
      if !ends.isEmpty { entry.makeAttentive() }
    }
  }

  /// Returns the end of the target's class that is the inverse of an end.
  func inverse(of end: RelationshipEnd, in target: StoredObject) -> RelationshipEnd? {
    // A target that is not inserted yet has an inverse, too, and keeps it when it is inserted.
    guard end.hasInverse,
      let entry = target.registration ?? end.source.store?.registration(of: type(of: target)),
      entry.store?.isDeletedElsewhere(target, entry) != true
    else { return nil }
    let index = end.inverseIndices[Int(entry.classID)]
    return index < 0 ? nil : ends(of: entry)[index]
  }
}

// MARK: - Edits

extension RelationshipKeeper {
  /// Records a new object as edited if it refers to others.
  func didInsert(_ object: StoredObject, _ entry: RegisteredClass) {
    let refers = quietly {
      ends(of: entry).contains { end in
        end.kind == .one ? end.target(of: object) != nil : !end.targets(of: object).isEmpty
      }
    }
    if refers { edits.append(Edit(object: object, entry: entry, before: nil)) }
  }

  /// Records an object that is about to be edited.
  func willEdit(_ object: StoredObject, _ entry: RegisteredClass) {
    let before = quietly { ends(of: entry).map { $0.value(of: object) } }
    edits.append(Edit(object: object, entry: entry, before: before))
  }

  /// Forgets edits and indexes, because everything is as saved.
  func reset() {
    edits = []
    postponed.removeAll()
    losses.removeAll()
    forgetIndexes()
  }

  /// Forgets losses and indexes after an undo step was reverted.
  func didRestore() {
    losses.removeAll()
    forgetIndexes()
  }

  /// Forgets indexes, because references have changed without an edit.
  func forgetIndexes() {
    for end in ends.joined() { end.index.drop() }
  }

  /// Drops outdated indexes when a commit begins, with the commits of other stores known.
  func willCommit() {
    for end in ends.joined() { end.index.dropIfStale(end.source.shared) }
  }

  /// Marks indexes as up to date with the store's own commit, whose edits they include.
  func didCommit(_ changes: ChangeSet) {
    for table in changes.tables where !table.records.isEmpty {
      for end in ends.joined() where end.source.table == table.table { end.index.followOne() }
    }
  }

  /// Updates the inverses of all edits.
  func settle() {
    while hasWork {
      settleEdits()
      if let changes = postponed.takeFirst() { apply(changes) }
    }
  }

  /// Applies pending removals of deleted objects from lists.
  func settleDeletions() {
    settleEdits()
    if postponed.hasDeletions { settle() }
  }

  /// Updates the references of an object.
  func settle(_ object: StoredObject, unlessItIsAllThatWasEdited: Bool = false) {
    if !(unlessItIsAllThatWasEdited && hasEditsOnly(of: object)) { settleEdits() }
    applyChanges(of: object)
  }

  /// Determines the changes of all edits.
  func settleEdits() {
    guard hasWork, !edits.isEmpty else { return }
    quietly {
      settleAllEdits()
      applyChangesOutsideOfStore()
    }
  }

  private func settleAllEdits() {
    let settled = edits
    edits = []
    var filled = FilledLists(inserted: insertedBesideEdits(settled))
    for edit in settled {
      edit.object.state.remove(.editable)
      guard edit.object.registration === edit.entry, !edit.object.state.contains(.deleted) else {
        continue
      }
      for (index, end) in ends(of: edit.entry).enumerated() where end.isWatched {
        guard let before = edit.before else {
          settle(new: edit.object, end, &filled)
          continue
        }
        if index < before.count { settle(edit.object, end, before[index], &filled) }
      }
    }
  }

  /// Returns the new objects among the edits, if existing objects were edited as well.
  private func insertedBesideEdits(_ edits: [Edit]) -> Set<ObjectIdentifier> {
    if edits.allSatisfy({ $0.before == nil }) { return [] }
    return Set(edits.lazy.filter { $0.before == nil }.map { ObjectIdentifier($0.object) })
  }

  /// Reads and changes properties without updating inverses: changes in the closure are not edits.
  func quietly<Result>(_ body: () -> Result) -> Result {
    let outer = isSettling
    isSettling = true
    defer { isSettling = outer }
    return body()
  }

  /// Calls application code in the middle of an update.
  func interrupted<Result>(_ body: () -> Result) -> Result {
    let outer = isSettling
    isSettling = false
    defer { isSettling = outer }
    return body()
  }

  private func settle(
    _ object: StoredObject, _ end: RelationshipEnd, _ before: RelationshipEnd.Value,
    _ filled: inout FilledLists
  ) {
    switch before {
    case .one(let before):
      let now = end.target(of: object)
      guard now !== before else { return }
      // The old target comes first, so that an object can move from one target to another.
      if let before { settle(object, end, before, 0) }
      if let now { settle(object, end, now, 1) }
    case .many(let before):
      let now = end.targets(of: object)
      let changed = ChangedTargets(before, now)
      for target in changed.targets {
        let count = changed.count(of: target, in: now)
        let isInserted = filled.inserted.contains(ObjectIdentifier(target))
        if isInserted, fill(object, end, target, count, &filled) { continue }
        settle(object, end, target, count)
      }
    }
  }

  private func settle(
    new object: StoredObject, _ end: RelationshipEnd, _ filled: inout FilledLists
  ) {
    let now = end.targets(of: object)
    let changed = ChangedTargets([], now)
    for target in changed.targets {
      let count = changed.count(of: target, in: now)
      if fill(object, end, target, count, &filled) { continue }
      settle(object, end, target, count)
    }
  }

  private func settle(
    _ object: StoredObject, _ end: RelationshipEnd, _ target: StoredObject, _ count: Int
  ) {
    note(object, end, target)
    if let inverse = watchedInverse(of: end, in: target) {
      setCount(count, of: object, in: target, inverse, end)
    }
  }

  /// Adds a target to a list until both sides contain each other equally often.
  ///
  /// An application may fill both sides of a new object; the higher count wins.
  ///
  /// - Returns: Whether the target had the higher count.
  private func fill(
    _ object: StoredObject, _ end: RelationshipEnd, _ target: StoredObject, _ count: Int,
    _ filled: inout FilledLists
  ) -> Bool {
    guard end.kind == .list, let inverse = inverse(of: end, in: target), inverse.kind == .list
    else { return false }
    let missing = filled.count(of: object, in: target, inverse) - count
    if missing <= 0 { return false }
    note(object, end, target)
    end.setTargets(of: object, end.targets(of: object) + Array(repeating: target, count: missing))
    return true
  }

  /// Returns the inverse of an end, and notes a target that another store has deleted.
  ///
  /// If such a target is restored, it has missed this change, so the next save is a conflict.
  private func watchedInverse(
    of end: RelationshipEnd, in target: StoredObject
  ) -> RelationshipEnd? {
    if let inverse = inverse(of: end, in: target) { return inverse }
    if end.hasInverse { target.store?.relyOnAbsence(of: target) }
    return nil
  }

  private func note(_ object: StoredObject, _ end: RelationshipEnd, _ target: StoredObject) {
    guard end.index.value != nil, let key = target.key else { return }
    end.index.update { $0.note(object.rowID, refersTo: key) }
  }

  /// Makes a target refer to an object a number of times, by the inverse of an end that was edited.
  private func setCount(
    _ count: Int, of object: StoredObject, in target: StoredObject, _ inverse: RelationshipEnd,
    _ end: RelationshipEnd
  ) {
    guard inverse.kind == .one else {
      // A reference or a set has no count, so any number of occurrences on the other side is right.
      let isMinimum = end.kind != .list && count > 0
      let change = ListChange(object: object, kind: .count(count, isMinimum: isMinimum))
      return postpone(change, of: target, inverse)
    }
    if isGone(target) {
      target.store?.relyOnAbsence(of: target)
      return
    }
    let former = inverse.target(of: target)
    if count > 0 {
      guard former !== object else {
        target.store?.relyOn(target)
        return
      }
      // The target moves here from another object.
      if let former { removeAll(target, from: former, end) }
      inverse.setTarget(of: target, object)
    } else if former === object {
      inverse.setTarget(of: target, nil)
    } else {
      target.store?.relyOn(target)
    }
  }

  /// Removes all references of an object to a target.
  private func removeAll(
    _ target: StoredObject, from object: StoredObject, _ end: RelationshipEnd
  ) {
    if end.kind == .one {
      if isGone(object) {
        object.store?.relyOnAbsence(of: object)
      } else if end.target(of: object) === target {
        end.setTarget(of: object, nil)
      } else {
        object.store?.relyOn(object)
      }
    } else {
      postpone(
        ListChange(object: target, kind: .count(0, isMinimum: false)), of: object, end)
    }
  }
}

// MARK: - Conflicts

extension RelationshipKeeper {
  /// Updates the other sides for an object that overwrites what another store has saved.
  ///
  /// The objects on the other sides are as saved, or overwrite their records in the same way.
  func rebase(_ object: StoredObject, _ entry: RegisteredClass, on saved: StoredObject?) {
    quietly {
      // Changes that rebasing objects on the other side has postponed.
      applyChanges(of: object)
      for end in ends(of: entry) where end.hasInverse {
        let now = object.isDeleted ? [] : end.targets(of: object)
        let before = saved.map { end.targets(of: $0) } ?? []
        var counts: [ObjectIdentifier: Int] = [:]
        for target in now { counts[ObjectIdentifier(target), default: 0] += 1 }
        var visited: Set<ObjectIdentifier> = []
        for target in before + now
        where !target.isDeleted && visited.insert(ObjectIdentifier(target)).inserted {
          guard let inverse = inverse(of: end, in: target) else { continue }
          setCount(counts[ObjectIdentifier(target)] ?? 0, of: object, in: target, inverse, end)
        }
      }
    }
  }
}
