/// Keeps both sides of relationships right.
///
/// The first edit of an object takes a copy of its references. What has changed is found by
/// comparison once it matters: before another object of such a class is read or changed, before a
/// save, a deletion and the end of an undo step. So editing a list costs what it costs without an
/// inverse, however many edits there are, and the comparison is paid once for all of them.
final class RelationshipKeeper {
  /// The ends of each class, by class ID.
  private var ends: [[RelationshipEnd]] = []
  /// Objects whose other sides may be out of date.
  private var edits: [Edit] = []
  /// Objects to delete because of the deletion that is being done.
  private var cascade: [StoredObject] = []
  private var isCascading = false
  private(set) var isSettling = false
  /// Objects whose properties are being changed in place; those may not be read then.
  private var modified: [ObjectIdentifier] = []

  private struct Edit {
    let object: StoredObject
    let entry: RegisteredClass
    /// What it referred to before, end by end; nil for a new object.
    let before: [[StoredObject]]?
  }

  /// Whether anything has to be brought up to date.
  ///
  /// Not now, while a list is being sorted by what its elements say.
  var hasEdits: Bool { !edits.isEmpty && !isSettling && modified.isEmpty }

  func beginModification(of object: StoredObject) { modified.append(ObjectIdentifier(object)) }

  func endModification(of object: StoredObject) {
    let id = ObjectIdentifier(object)
    if let index = modified.lastIndex(of: id) { modified.remove(at: index) }
  }

  /// A save begins: nothing is being changed in place, whatever became of those who said so.
  func endModifications() { modified.removeAll() }

  /// Whether nothing but this object has been edited.
  func hasEditsOnly(of object: StoredObject) -> Bool {
    edits.count == 1 && edits[0].object === object && !edits[0].entry.refersToItself
  }

  func ends(of entry: RegisteredClass) -> [RelationshipEnd] { ends[Int(entry.classID)] }
}

// MARK: - Classes

extension RelationshipKeeper {
  /// Finds the ends of all classes, because more of them are registered.
  func learn(_ classes: [RegisteredClass]) {
    ends = classes.map { entry in
      entry.type.relationships.map { RelationshipEnd($0, of: entry) }
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
    for entry in classes {
      let ends = ends(of: entry)
      entry.refersToItself = ends.contains { entry.isKind(of: $0.relationship.target) }
      if !ends.isEmpty { entry.makeAttentive() }
    }
  }

  /// The end of an object's class that is the other side of an end.
  private func inverse(of end: RelationshipEnd, in target: StoredObject) -> RelationshipEnd? {
    // An object that is inserted later brings its other side along.
    guard let inverse = end.relationship.inverse,
      let entry = target.registration ?? end.source.store?.registration(of: type(of: target)),
      entry.store?.isDeletedElsewhere(target, entry) != true
    else { return nil }
    return ends(of: entry).first { $0.relationship.property == inverse }
  }
}

// MARK: - Edits

extension RelationshipKeeper {
  /// A new object may refer to others.
  func didInsert(_ object: StoredObject, _ entry: RegisteredClass) {
    let refers = quietly { ends(of: entry).contains { !$0.targets(of: object).isEmpty } }
    if refers { edits.append(Edit(object: object, entry: entry, before: nil)) }
  }

  /// An object is about to be edited.
  func willEdit(_ object: StoredObject, _ entry: RegisteredClass) {
    let before = quietly { ends(of: entry).map { $0.targets(of: object) } }
    edits.append(Edit(object: object, entry: entry, before: before))
  }

  /// Forgets edits and indexes: everything is as it is saved.
  func reset() {
    edits = []
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
  func didCommit() {
    for end in ends.joined() { end.index.follow(end.source.shared) }
  }

  /// Brings the other sides of all edits up to date.
  func settle() {
    guard hasEdits else { return }
    isSettling = true
    defer { isSettling = false }
    let settled = edits
    edits = []
    for edit in settled {
      edit.object.state.remove(.editable)
      guard edit.object.registration === edit.entry, !edit.object.state.contains(.deleted) else {
        continue
      }
      for (index, end) in ends(of: edit.entry).enumerated() {
        if let before = edit.before {
          if index < before.count { settle(edit.object, end, before[index]) }
        } else {
          settle(new: edit.object, end)
        }
      }
    }
  }

  /// Reads and changes properties without bringing anything up to date: changes here are no edits.
  private func quietly<Result>(_ body: () -> Result) -> Result {
    let outer = isSettling
    isSettling = true
    defer { isSettling = outer }
    return body()
  }

  private func settle(_ object: StoredObject, _ end: RelationshipEnd, _ before: [StoredObject]) {
    guard end.isWatched else { return }
    let now = end.targets(of: object)
    let changed = ChangedTargets(before, now)
    for target in changed.targets {
      note(object, end, target)
      if let inverse = inverse(of: end, in: target) {
        setCount(changed.count(of: target, in: now), of: object, in: target, inverse, end)
      }
    }
  }

  private func settle(new object: StoredObject, _ end: RelationshipEnd) {
    guard end.isWatched else { return }
    let now = end.targets(of: object)
    let changed = ChangedTargets([], now)
    for target in changed.targets {
      note(object, end, target)
      guard let inverse = inverse(of: end, in: target) else { continue }
      // Both sides may have been filled by hand: the one that says more is believed.
      let count = changed.count(of: target, in: now)
      let other = inverse.count(of: object, in: target)
      if other > count, end.kind == .list {
        end.setTargets(of: object, now + Array(repeating: target, count: other - count))
      } else {
        setCount(count, of: object, in: target, inverse, end)
      }
    }
  }

  private func note(_ object: StoredObject, _ end: RelationshipEnd, _ target: StoredObject) {
    guard let key = target.key else { return }
    end.index.update { $0.note(object.rowID, refersTo: key) }
  }

  /// Makes an object refer to another so many times, by the inverse of an end that was edited.
  private func setCount(
    _ count: Int, of object: StoredObject, in target: StoredObject, _ inverse: RelationshipEnd,
    _ end: RelationshipEnd
  ) {
    var references = inverse.targets(of: target)
    let present = references.count { $0 === object }
    if inverse.kind == .one, count > 0, present == 0, let former = references.first {
      // The target was another's, and is so no more.
      if !end.removeAll(target, from: former) { former.store?.relyOn(former) }
    }
    // A property that can say only whether, and not how often, is content with any number.
    let wanted = end.kind == .list || count == 0 ? count : max(count, present)
    let limit = inverse.kind == .list ? wanted : min(wanted, 1)
    guard limit != present else {
      target.store?.relyOn(target)
      return
    }
    if limit > present {
      if inverse.kind == .one { references = [] }
      references += Array(repeating: object, count: limit - present)
    } else {
      for _ in limit..<present {
        if let last = references.lastIndex(where: { $0 === object }) { references.remove(at: last) }
      }
    }
    inverse.setTargets(of: target, references)
  }
}

// MARK: - Conflicts

extension RelationshipKeeper {
  /// Makes the other sides agree with an object that is written over what another store has saved.
  ///
  /// The objects on the other sides are as they are saved, or are written in the same way.
  func rebase(_ object: StoredObject, _ entry: RegisteredClass, on saved: StoredObject?) {
    quietly {
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

// MARK: - Deletions

extension RelationshipKeeper {
  /// Does what the rules say of an object that is being deleted.
  func didDelete(_ object: StoredObject, _ entry: RegisteredClass, _ store: Store) {
    for end in ends(of: entry) {
      switch end.relationship.deleteRule {
      case .cascade: cascade += end.targets(of: object)
      case .nullify: quietly { nullify(object, end) }
      case .deny, .noAction: break
      }
    }
    quietly { removeReferences(to: object, entry, store) }
    deleteCascade(store)
  }

  /// Not by recursion: a chain may be long.
  private func deleteCascade(_ store: Store) {
    guard !isCascading else { return }
    isCascading = true
    defer { isCascading = false }
    while let next = cascade.popLast() { store.delete(next) }
  }

  private func nullify(_ object: StoredObject, _ end: RelationshipEnd) {
    for target in ChangedTargets([], end.targets(of: object)).targets {
      guard !target.isDeleted, let inverse = inverse(of: end, in: target) else { continue }
      if !inverse.removeAll(object, from: target) { target.store?.relyOn(target) }
    }
  }

  /// Takes an object out of all that refers to it and has no inverse that would say so.
  private func removeReferences(
    to object: StoredObject, _ entry: RegisteredClass, _ store: Store
  ) {
    guard let key = object.key else { return }
    for end in ends.joined()
    where !end.hasInverse && end.relationship.deleteRule != .noAction
      && entry.isKind(of: end.relationship.target)
    {
      do {
        for row in try index(end, store).candidates(for: key) {
          guard let source = try store.object(end.source, rowID: row) else { continue }
          end.removeAll(object, from: source)
        }
      } catch {
        end.source.note(FetchFailure(object: object, error: error))
      }
    }
  }

  /// Who refers to whom by an end; the first time, all objects of its class are read.
  private func index(_ end: RelationshipEnd, _ store: Store) throws(StoreError) -> ReferenceIndex {
    store.collectChangesElsewhere()
    let table = end.source.shared
    end.index.dropIfStale(table)
    if let index = end.index.value { return index }
    let commitCount = table.commitCount
    var index = ReferenceIndex()
    var cursor = RowCursor(store, end.source, keepsObjects: false)
    while let source = try cursor.next() {
      for target in end.targets(of: source) {
        if let key = target.key { index.note(source.rowID, refersTo: key) }
      }
    }
    end.index.set(index, asOf: commitCount)
    return index
  }

  /// The first deletion that a rule forbids.
  func refuseDenied(_ classes: [RegisteredClass]) throws(StoreError) {
    for entry in classes where entry.changeCounts.deletes > 0 {
      for end in ends(of: entry) where end.relationship.deleteRule == .deny {
        for object in entry.pending where object.state.change == .delete {
          guard let target = end.targets(of: object).first(where: { !$0.isDeleted }) else {
            continue
          }
          throw StoreError(
            .deleteDenied,
            """
            The object still refers to \(type(of: target).storedName) row \(target.rowID), and its \
            delete rule is to deny that: delete that first, or insert(_:) the object again.
            """, at: entry.place(object.rowID))
        }
      }
    }
  }
}

// MARK: - Comparing

/// The objects that one list holds more often than another.
private struct ChangedTargets {
  /// In the order in which the lists name them, each once.
  private(set) var targets: [StoredObject] = []

  /// Complexity: linear in the sizes of the lists, a hash for each place between the first and the
  /// last that differ.
  init(_ before: [StoredObject], _ now: [StoredObject]) {
    let ends = CommonEnds(before, now, by: ===)
    let (old, new) = (ends.middle(of: before), ends.middle(of: now))
    if old.isEmpty && new.isEmpty { return }
    var counts: [ObjectIdentifier: Int] = [:]
    for target in new { counts[ObjectIdentifier(target), default: 0] += 1 }
    for target in old { counts[ObjectIdentifier(target), default: 0] -= 1 }
    // Who leaves comes before who joins, so that an object can be handed from one to another.
    for target in old + new {
      if let count = counts.removeValue(forKey: ObjectIdentifier(target)), count != 0 {
        targets.append(target)
      }
    }
    countsOfMany = targets.count > 4 ? Self.counts(of: targets, in: now) : nil
  }

  private var countsOfMany: [ObjectIdentifier: Int]?

  private static func counts(
    of targets: [StoredObject], in list: [StoredObject]
  ) -> [ObjectIdentifier: Int] {
    var counts: [ObjectIdentifier: Int] = [:]
    for target in targets { counts[ObjectIdentifier(target)] = 0 }
    for target in list { counts[ObjectIdentifier(target)]? += 1 }
    return counts
  }

  func count(of target: StoredObject, in list: [StoredObject]) -> Int {
    if let countsOfMany { return countsOfMany[ObjectIdentifier(target)] ?? 0 }
    return list.count { $0 === target }
  }
}
