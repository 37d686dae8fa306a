import StoreEngine

/// Keeps both sides of relationships right.
///
/// The first edit of an object takes a copy of its references. What has changed is found by
/// comparison once it matters: before another object of such a class is read or changed, before a
/// save, a deletion and the end of an undo step. So editing a list costs what it costs without an
/// inverse, however many edits there are, and the comparison is paid once for all of them.
///
/// The other side is changed at once where it is a reference to one object. Changes of a list or a
/// set are postponed until it is read or edited itself, and then made together.
final class RelationshipKeeper {
  /// The ends of each class, by class ID; none for the IDs of classes that are not registered.
  private(set) var ends: [[RelationshipEnd]] = []
  /// Objects whose other sides may be out of date.
  private var edits: [Edit] = []
  /// Changes to lists that nobody has looked at since.
  var postponed = PostponedChanges()
  /// Objects in no store whose lists wait for changes.
  var objectsOutsideOfStore: [StoredObject] = []
  /// The elements that deletions have taken out of lists.
  var losses = Losses()
  /// Objects to delete because of the deletion that is being done.
  var cascade: [StoredObject] = []
  var isCascading = false
  private(set) var isSettling = false
  /// Objects whose properties are being changed in place; those may not be read then.
  private var modified: [ObjectIdentifier] = []

  private struct Edit {
    let object: StoredObject
    let entry: RegisteredClass
    /// What it referred to before, end by end; nil for a new object.
    let before: [RelationshipEnd.Value]?
  }

  /// Whether the other side of anything may be out of date.
  ///
  /// Not now, while a list is being sorted by what its elements say.
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

  /// A save begins: nothing is being changed in place, whatever became of those who said so.
  func endModifications() { modified.removeAll() }

  /// Whether nothing but this object has been edited.
  private func hasEditsOnly(of object: StoredObject) -> Bool {
    edits.count == 1 && edits[0].object === object && !edits[0].entry.refersToItself
  }

  @inline(__always)
  func ends(of entry: RegisteredClass) -> [RelationshipEnd] { ends[Int(entry.classID)] }
}

// MARK: - Classes

extension RelationshipKeeper {
  /// Finds the ends of all classes, in order of their IDs, because more of them are registered.
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
          The inverse of \(end.source.name)'s relationship to \(end.relationship.target) is no property \
          that can be set, of type \(end.source.type)?, [\(end.source.type)] or Set<\(end.source.type)>.
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

  /// The end of an object's class that is the other side of an end.
  func inverse(of end: RelationshipEnd, in target: StoredObject) -> RelationshipEnd? {
    // An object that is inserted later brings its other side along.
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
  /// A new object may refer to others.
  func didInsert(_ object: StoredObject, _ entry: RegisteredClass) {
    let refers = quietly {
      ends(of: entry).contains { end in
        end.kind == .one ? end.target(of: object) != nil : !end.targets(of: object).isEmpty
      }
    }
    if refers { edits.append(Edit(object: object, entry: entry, before: nil)) }
  }

  /// An object is about to be edited.
  func willEdit(_ object: StoredObject, _ entry: RegisteredClass) {
    let before = quietly { ends(of: entry).map { $0.value(of: object) } }
    edits.append(Edit(object: object, entry: entry, before: before))
  }

  /// Forgets edits and indexes: everything is as it is saved.
  func reset() {
    edits = []
    postponed.removeAll()
    losses.removeAll()
    forgetIndexes()
  }

  /// A step of the history has been taken back.
  func didRestore() {
    losses.removeAll()
    forgetIndexes()
  }

  /// References have changed otherwise than by edits.
  func forgetIndexes() {
    for end in ends.joined() { end.index.drop() }
  }

  /// A commit of the store begins; what others have committed is known now.
  func willCommit() {
    for end in ends.joined() { end.index.dropIfStale(end.source.shared) }
  }

  /// The store's own commit is told to the indexes by its edits.
  func didCommit(_ changes: ChangeSet) {
    for table in changes.tables where !table.records.isEmpty {
      for end in ends.joined() where end.source.table == table.table { end.index.followOne() }
    }
  }

  /// Brings the other sides of all edits up to date, wherever they are.
  func settle() {
    while hasWork {
      settleEdits()
      if let changes = postponed.takeFirst() { apply(changes) }
    }
  }

  /// Lets lists lose what has been deleted.
  func settleDeletions() {
    settleEdits()
    if postponed.hasDeletions { settle() }
  }

  /// Brings what an object refers to up to date.
  func settle(_ object: StoredObject, unlessItIsAllThatWasEdited: Bool = false) {
    if !(unlessItIsAllThatWasEdited && hasEditsOnly(of: object)) { settleEdits() }
    applyChanges(of: object)
  }

  /// Finds out what edits have changed.
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

  /// The new objects among edits of others, which are not settled by an insertion.
  private func insertedBesideEdits(_ edits: [Edit]) -> Set<ObjectIdentifier> {
    if edits.allSatisfy({ $0.before == nil }) { return [] }
    return Set(edits.lazy.filter { $0.before == nil }.map { ObjectIdentifier($0.object) })
  }

  /// Reads and changes properties without bringing anything up to date: changes here are no edits.
  func quietly<Result>(_ body: () -> Result) -> Result {
    let outer = isSettling
    isSettling = true
    defer { isSettling = outer }
    return body()
  }

  /// Lets an application do what it likes in the middle of all this.
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
      // The one that leaves comes first, so that an object can be handed from one to another.
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

  /// Adds a target to a list until both sides have each other equally often.
  ///
  /// An application may fill both sides of a new object: the side that has more counts.
  ///
  /// - Returns: Whether the target had more.
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

  /// The same as ``inverse(of:in:)``; should a target that is deleted elsewhere come back, nobody
  /// has told it of this, and the next save is a conflict.
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

  /// Makes an object refer to another so many times, by the inverse of an end that was edited.
  private func setCount(
    _ count: Int, of object: StoredObject, in target: StoredObject, _ inverse: RelationshipEnd,
    _ end: RelationshipEnd
  ) {
    guard inverse.kind == .one else {
      // A property that can say only whether, and not how often, is content with any number.
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
      // The target was another's, and is so no more.
      if let former { removeAll(target, from: former, end) }
      inverse.setTarget(of: target, object)
    } else if former === object {
      inverse.setTarget(of: target, nil)
    } else {
      target.store?.relyOn(target)
    }
  }

  /// Takes out every reference of an object to another.
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
  /// Makes the other sides agree with an object that is written over what another store has saved.
  ///
  /// The objects on the other sides are as they are saved, or are written in the same way.
  func rebase(_ object: StoredObject, _ entry: RegisteredClass, on saved: StoredObject?) {
    quietly {
      // What the object on the other side has just been made to agree with.
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
