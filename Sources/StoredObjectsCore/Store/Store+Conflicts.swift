import Logging
import StoreEngine

extension Store {
  /// Resolves all conflicts in favor of this store.
  ///
  /// The next save overwrites what other stores have saved:
  ///
  /// - An object with unsaved changes is written as it is here, even if another store has deleted
  ///   it.
  /// - Objects at the other end of an inverse are updated to match.
  /// - References to objects that another store has deleted are dropped: a reference becomes nil,
  ///   and a list gets shorter. So are references that another store has saved to objects that are
  ///   deleted here.
  /// - A named buffer is saved as it was set here.
  ///
  /// The undo manager drops its steps if references had to be updated, because the steps only
  /// contain the objects' content in this store.
  ///
  /// ``discardChanges()`` resolves conflicts the other way.
  ///
  /// Complexity: linear in the number of unsaved changes; if this store has deleted objects, also
  /// in the number of records that others have written since this store was last up to date.
  ///
  /// - Precondition: no transaction is open.
  public func keepConflictingChanges() {
    precondition(transactions.isEmpty, "keepConflictingChanges() inside of a transaction")
    settleRelationships()
    mergeChanges(keepsDeleted: false)
    let outdated = classes.flatMap { entry in
      entry.pending.filter { isChangedElsewhere($0.rowID, entry) }.map { ($0, entry) }
    }
    let isInConflict = !outdated.isEmpty || foreign.brokenReliance != nil
    let pending = classes.flatMap { entry in entry.pending.map { ($0, entry) } }
    let referrers = (try? referrersToDeleted()) ?? []
    defer {
      for (object, entry) in pending { entry.liveQueries?.note(object) }
      updateLiveQueries()
    }
    // Changes that arrive from here on are new.
    foreign.outdated = ChangedRows()
    foreign.names = nil
    foreign.forgetReliance()
    foreign.forgetWritten()
    // The indexes do not include objects that are restored.
    relationships?.forgetIndexes()
    do {
      for (object, entry) in outdated { try adoptPresence(of: object, entry) }
      if isInConflict { try rebaseRelationships(of: pending) }
      for (object, entry) in pending where object.state.change != .delete {
        try dropReferences(of: object, entry, .deletedElsewhere)
      }
      // A restored object has missed the deletions made here while it was deleted elsewhere.
      for (object, entry) in outdated where object.state.change != .delete {
        try dropReferences(of: object, entry, .deletedAnywhere)
      }
      for key in referrers {
        guard let entry = registration(classID: key.classID),
          let object = try object(entry, rowID: key.rowID)
        else { continue }
        try dropReferences(of: object, entry, .deletedAnywhere)
      }
    } catch {
      logger.error("A conflict could not be decided: \(error)")
      foreign.brokenReliance = pending.first.map {
        ObjectKey(classID: $0.1.classID, rowID: $0.0.rowID)
      }
    }
  }

  /// Marks an object as inserted if its row no longer exists, or as updated if it exists again.
  private func adoptPresence(
    of object: StoredObject, _ entry: RegisteredClass
  ) throws(StoreError) {
    let isSaved: Bool
    do {
      isSaved = try backend.withRecord(object.rowID, in: entry.table) { _ in true } ?? false
    } catch { throw .wrapping(error, .ioError, at: entry.location(object.rowID)) }
    if object.state.change == .delete { return }
    foreign.restore(ObjectKey(classID: entry.classID, rowID: object.rowID))
    if object.state.change == .update, !isSaved {
      entry.mark(object) {
        $0.remove(.updated)
        $0.insert(.inserted)
      }
    } else if object.state.contains(.inserted), isSaved {
      entry.mark(object) {
        $0.remove(.inserted)
        if !$0.contains(.deleted) { $0.insert(.updated) }
      }
    }
  }

  private func rebaseRelationships(
    of objects: [(StoredObject, RegisteredClass)]
  ) throws(StoreError) {
    guard let relationships else { return }
    // These are changes, too, and no undo step must revert them alone.
    defer { history?.removeAllActions() }
    for (object, entry) in objects where entry.isAttentive && object.state.change != nil {
      relationships.rebase(object, entry, on: try savedObject(object.rowID, entry))
    }
    settleRelationships()
  }

  /// Removes all references to deleted objects from an object's content.
  private func dropReferences(
    of object: StoredObject, _ entry: RegisteredClass, _ omission: Strangers.Omission
  ) throws(StoreError) {
    guard object.hasContent else { return }
    let strangers = Strangers(omitting: omission)
    let content = try contentImage(of: object, entry, strangers)
    guard strangers.hasOmitted else { return }
    // Undoing an earlier step would restore references to objects that no longer exist.
    history?.removeAllActions()
    if object.state.change == nil { entry.mark(object) { $0.insert(.updated) } }
    try setContent(of: object, entry, to: content)
    object.noteObservedChange()
  }
}

// MARK: - Finding conflicts

extension Store {
  /// Throws if a save would depend on something that another store has changed since.
  ///
  /// Called with all changes of other stores collected, before the changes are encoded and again in
  /// the commit turn.
  func checkForConflicts() throws(StoreError) {
    if foreign.isEmpty { return }
    for entry in classes {
      let rows = foreign.outdated[entry.table]
      if rows.isEmpty { continue }
      let conflict = entry.pending.first {
        $0.state.differsFromSaved && rows.contains($0.rowID)
      }
      guard let conflict else { continue }
      throw self.conflict(
        "Another store has saved a change to this object since it was read here.",
        ObjectKey(classID: entry.classID, rowID: conflict.rowID))
    }
    if let key = foreign.brokenReliance {
      throw conflict(
        """
        Another store has saved a change to this object, which a change on the other side of a \
        relationship, or an undo, relied on here.
        """, key)
    }
    if let name = foreign.names?.first(where: pendingNames.contains) {
      throw conflict(
        "Another store has saved the buffer \"\(name.text)\" since it was read here.", nil)
    }
    try checkReferencesToDeleted()
  }

  /// Returns the error for a conflict about an object, or with `key` nil about something else.
  func conflict(_ message: String, _ key: ObjectKey?) -> StoreError {
    let location = key.flatMap { key in
      registration(classID: key.classID)?.location(key.rowID)
    }
    return StoreError(
      .conflict,
      """
      \(message) discardChanges() keeps their changes; keepConflictingChanges() and another save \
      keep yours.
      """, at: location ?? .init(path: backend.location))
  }

  /// Throws if another store has saved a reference to an object that this save would delete.
  private func checkReferencesToDeleted() throws(StoreError) {
    guard foreign.hasWritten, hasDeletions else { return }
    for (object, entry) in pendingReferrers() {
      let strangers = Strangers(omitting: .deletedAnywhere)
      _ = try contentImage(of: object, entry, strangers)
      guard strangers.hasOmitted else { continue }
      throw conflict(
        "Another store has saved this object, which refers to an object that is deleted here.",
        ObjectKey(classID: entry.classID, rowID: object.rowID))
    }
    guard let (referrer, target) = try firstReferenceToDeleted(),
      let entry = registration(classID: referrer.classID)
    else { return }
    throw conflict(
      "Another store has saved \(entry.name) row \(referrer.rowID), which refers to this object.",
      target)
  }

  /// Returns the objects with unsaved changes that others have written since a deletion here.
  private func pendingReferrers() -> [(StoredObject, RegisteredClass)] {
    classes.flatMap { entry in
      let rows = foreign.written(entry.classID)
      if rows.isEmpty { return [(StoredObject, RegisteredClass)]() }
      return entry.written.filter { $0.hasContent && rows.contains($0.rowID) }.map { ($0, entry) }
    }
  }

  private func isBeingDeleted(_ key: ObjectKey) -> Bool {
    registration(classID: key.classID)?.living(key.rowID)?.state.change == .delete
  }

  private func firstReferenceToDeleted() throws(StoreError) -> (
    referrer: ObjectKey, target: ObjectKey
  )? {
    for entry in classes {
      forEachReference(of: foreign.unscanned(entry.classID), entry) {
        foreign.noteReference(to: $1)
      }
      foreign.didScan(entry.classID)
    }
    let isReferredTo = classes.contains { entry in
      entry.changeCounts.deletes > 0
        && entry.pending.contains {
          $0.state.change == .delete
            && foreign.isReferredTo(ObjectKey(classID: entry.classID, rowID: $0.rowID))
        }
    }
    guard isReferredTo else { return nil }
    // The row was referred to when the records were scanned; only the records know whether it still
    // is.
    var found: (ObjectKey, ObjectKey)?
    for entry in classes where found == nil {
      forEachReference(of: foreign.written(entry.classID), entry) { referrer, target in
        if found == nil, isBeingDeleted(target) { found = (referrer, target) }
      }
    }
    return found
  }

  /// Returns the rows that others have written and that refer to objects deleted here.
  private func referrersToDeleted() throws(StoreError) -> [ObjectKey] {
    guard foreign.hasWritten, hasDeletions else { return [] }
    var referrers = pendingReferrers().map { object, entry in
      ObjectKey(classID: entry.classID, rowID: object.rowID)
    }
    for entry in classes {
      forEachReference(of: foreign.written(entry.classID), entry) { referrer, target in
        if referrers.last != referrer, isBeingDeleted(target) { referrers.append(referrer) }
      }
    }
    return referrers
  }

  /// Visits the references of saved records, except for objects that are about to be written.
  private func forEachReference(
    of rows: RowSet, _ entry: RegisteredClass, _ body: (ObjectKey, ObjectKey) -> Void
  ) {
    let recorder = ReferenceRecorder()
    referenceRecorder = recorder
    defer { referenceRecorder = nil }
    rows.forEach { rowID in
      if entry.living(rowID)?.state.change != nil { return }
      recorder.removeAll()
      // A record that can't be read has no references that could be followed.
      guard (try? savedObject(rowID, entry)) != nil else { return }
      let referrer = ObjectKey(classID: entry.classID, rowID: rowID)
      for reference in recorder.references {
        body(referrer, ObjectKey(classID: reference.classID, rowID: reference.rowID))
      }
    }
  }
}
