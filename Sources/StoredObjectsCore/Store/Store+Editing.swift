import StoreEngine

extension Store {
  /// Adds an object to the store.
  ///
  /// The next save writes it.
  ///
  /// The object gets its row ID now, so that others can refer to it. Inserting an object twice does
  /// nothing, and inserting one that was deleted since the last save takes the deletion back, with
  /// the references to it that the deletion has removed.
  ///
  /// - Precondition: the object's class is registered, the object is in no other store, and it is
  ///   not one whose record could not be read before it was deleted or its store was gone.
  ///
  /// Complexity: constant time.
  public func insert(_ object: StoredObject) {
    if let entry = object.registration, entry.store == nil {
      // Its store is gone: it is on its own.
      entry.release(object)
    }
    if let entry = object.registration {
      precondition(entry.store === self, "The object is in another store: delete it there first.")
      return undelete(object, entry)
    }
    guard let entry = registration(of: type(of: object)) else {
      preconditionFailure("Register \(type(of: object)) with the store before inserting.")
    }
    precondition(object.hasContent, "The object was deleted, and its content never read.")
    guard tell(object, { $0.store(self, willInsert: object) }), object.registration == nil else {
      return
    }
    noteChange()
    // Row 0 stands for a row ID that could not be had; the save refuses it.
    entry.adopt(object, entry.shared.nextRowID() ?? 0)
    noteAbsence(of: object, entry)
    if entry.isAttentive {
      entry.mark(object) { $0.formUnion([.inserted, .hasContent]) }
      relationships?.didInsert(object, entry)
    } else {
      entry.mark(object) { $0.formUnion([.inserted, .hasContent, .editable]) }
    }
    tellDidChange()
  }

  /// Inserts an object that has its content, and a row without a record.
  func insertInRow(_ object: StoredObject, _ entry: RegisteredClass) {
    guard tell(object, { $0.store(self, willInsert: object) }), object.registration === entry,
      object.state.change == nil
    else { return }
    noteChange()
    noteAbsence(of: object, entry)
    entry.mark(object) { $0.formUnion([.inserted, .hasContent]) }
    if entry.isAttentive { relationships?.didInsert(object, entry) }
    tellDidChange()
  }

  private func undelete(_ object: StoredObject, _ entry: RegisteredClass) {
    guard object.state.contains(.deleted) else { return }
    guard tell(object, { $0.store(self, willInsert: object) }), object.registration === entry,
      object.state.contains(.deleted)
    else { return }
    noteChange()
    noteAbsence(of: object, entry)
    // Before it is there again.
    relationships?.settleDeletions()
    entry.mark(object) { $0.remove(.deleted) }
    relationships?.didUndelete(object, entry)
    tellDidChange()
  }

  /// Removes an object from the store.
  ///
  /// The next save removes its record.
  ///
  /// The object's ``StoredObject/prepareForDelete()`` runs first, and may delete others. References
  /// that other objects hold are theirs to remove: saving one of them before that is an error.
  /// Deleting an object that is in no store, or deleted already, does nothing.
  ///
  /// After the save the object keeps its values. It no longer refers to objects that were deleted
  /// before it, so that deleted objects do not keep each other alive.
  ///
  /// - Precondition: the object is in no other store.
  ///
  /// Complexity: constant time, and what `prepareForDelete()` costs; the record of a fault is read.
  public func delete(_ object: StoredObject) {
    guard let entry = object.registration, !object.state.contains(.deleted) else { return }
    precondition(entry.store === self, "The object is in another store.")
    settleRelationships(of: object)
    // Its content outlives its record. One that can't be read may well be the reason to delete it.
    try? object.fetchContent()
    guard tell(object, { $0.store(self, willDelete: object) }), object.registration === entry,
      !object.state.contains(.deleted)
    else { return }
    noteChange()
    noteImage(of: object, entry)
    // Marked first: a rule that comes back to this object ends here.
    entry.mark(object) { $0.insert(.deleted) }
    deletions.append(object)
    // A rule may delete the next object, and so on: from some depth on that one waits.
    if deletions.depth < Deletions.maximumDepth { finishDeletions() }
  }

  /// Does what the rules say of the objects that are being deleted.
  private func finishDeletions() {
    deletions.depth += 1
    while let object = deletions.takeLast() {
      guard let entry = object.registration else { continue }
      object.prepareForDelete()
      settleRelationships(of: object)
      relationships?.didDelete(object, entry, self)
    }
    deletions.depth -= 1
    tellDidChange()
  }

  /// Removes the object of a row, also one whose record can't be read.
  ///
  ///     try store.delete(Song.self, rowID: failure.rowID)
  ///
  /// The same as ``delete(_:)`` with the object, which only a readable record can be made into.
  ///
  /// - Returns: Whether there was such an object.
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `ioError` or `closed`.
  @discardableResult
  public func delete<Object: StoredObject>(
    _ type: Object.Type, rowID: UInt32
  ) throws(StoreError) -> Bool {
    let entry = try requireRegistration(of: type)
    if let living = entry.living(rowID) {
      guard !living.state.contains(.deleted) else { return false }
      delete(living)
      return true
    }
    guard rowID > ClassMetadata.rowID, try hasRecord(rowID, entry) else { return false }
    delete(entry.makeFault(rowID))
    return true
  }

  func hasRecord(_ rowID: UInt32, _ entry: RegisteredClass) throws(StoreError) -> Bool {
    do {
      return try backend.withRecord(rowID, in: entry.table) { _ in true } ?? false
    } catch  where error.code == .notAuthentic || error.code == .damaged {
      // What can't be opened is there.
      return true
    } catch { throw .wrapping(error, .ioError, at: entry.location(rowID)) }
  }

  /// Tells the store that an object is about to change.
  ///
  /// ``Content`` does it by itself.
  ///
  /// A fault's record is read first. When that fails, the object stays as it is on disk, the change
  /// is not saved, and ``fetchFailures`` says so.
  ///
  /// Complexity: constant time; nothing but a flag test for an object that has changed before.
  public func willUpdate(_ object: StoredObject) { willUpdate(object, isFollowed: false) }

  /// The same; if the change is followed by a call, the delegate hears then that there is one.
  func willUpdate(_ object: StoredObject, isFollowed: Bool) {
    guard let entry = object.registration, entry.store === self,
      object.state.isDisjoint(with: [.editable, .loading]), prepareUpdate(of: object, entry)
    else { return }
    // Not when it has changed before, in an earlier step.
    if object.state.isDisjoint(with: [.inserted, .updated]) {
      beginUpdate(of: object, entry, isFollowed)
    }
    if let live = entry.liveQueries { live.willEdit(object, isFollowed: isFollowed) }
  }

  /// An object changes for the first time since it was saved.
  private func beginUpdate(
    of object: StoredObject, _ entry: RegisteredClass, _ isFollowed: Bool
  ) {
    // Marked first: a delegate that changes this object ends here.
    entry.mark(object) { $0.insert(.updated) }
    noteChange()
    guard delegate != nil else { return }
    tell { $0.store(self, willUpdate: object) }
    if !isFollowed { tellDidChange() }
    guard object.registration === entry else { return }
    if isFollowed { object.state.insert(.changing) }
    // The delegate may have saved what the change is to be made of, or discarded it.
    guard object.state.isDisjoint(with: .editable), prepareUpdate(of: object, entry) else { return }
    if object.state.isDisjoint(with: [.inserted, .updated]) {
      entry.mark(object) { $0.insert(.updated) }
    }
  }

  /// Reads the record of an object that is about to change, and takes down what it is like; false
  /// if it can't be read.
  private func prepareUpdate(of object: StoredObject, _ entry: RegisteredClass) -> Bool {
    object.checkForContent()
    guard object.hasContent else { return false }
    noteImage(of: object, entry)
    if entry.isAttentive {
      if isTracked(object) { trackEdit(of: object, entry) }
    } else {
      object.state.insert(.editable)
    }
    return true
  }

  /// A property has been changed in place that live results are waiting for.
  func didModify(_ object: StoredObject) {
    object.state.remove(.beingModified)
    object.registration?.liveQueries?.note(object)
    updateLiveQueries()
  }

  /// A change that ``willUpdate(_:isFollowed:)`` has announced is made.
  func didUpdate(_ object: StoredObject) {
    object.state.remove(.changing)
    tellDidChange()
  }

  /// Whether a save would write anything.
  ///
  /// Complexity: linear in the number of classes.
  public var hasUnsavedChanges: Bool {
    !pendingNames.isEmpty || classes.contains { !$0.changeCounts.isEmpty }
  }

  /// Forgets all changes since the last save.
  ///
  /// Inserted objects leave the store and keep their properties. Deleted objects are back. Changed
  /// objects become faults and read what is saved, as do those that other stores have changed
  /// (``mergeChanges()``). Named buffers are as saved, and ``fetchFailures`` is empty.
  ///
  /// Complexity: linear in the number of changed objects.
  public func discardChanges() {
    let hadChanges = hasUnsavedChanges
    relationships?.reset()
    _ = deletions.takeDeleted()
    noteChange()
    collectChangesElsewhere()
    for entry in classes {
      for object in entry.takePending() { discard(object, entry) }
    }
    pendingNames = [:]
    // Nothing is left that rests on what others have changed.
    foreign.forgetReliance()
    mergeChanges(keepsDeleted: true)
    acknowledgeFetchFailures()
    history?.didDiscard()
    mergeBases.removeAll()
    forgetSavepoints()
    collectExternals()
    updateLiveQueries()
    if hadChanges { tell { $0.storeDidChange(self) } }
  }

  private func discard(_ object: StoredObject, _ entry: RegisteredClass) {
    entry.liveQueries?.note(object)
    if object.state.contains(.inserted), !hasComeBackElsewhere(object, entry) {
      release(object, entry)
      object.state = [.hasContent, .detached]
    } else if object.state.contains(.inserted) || object.state.contains(.updated)
      || isChangedElsewhere(object.rowID, entry)
    {
      object.state.formIntersection(.special)
      object.noteObservedChange()
    } else {
      object.state.subtract([.deleted, .pending, .editable])
    }
  }

  /// Whether an object that has come back here has come back in another store, too, which has saved
  /// it: objects that were read since may refer to it.
  private func hasComeBackElsewhere(_ object: StoredObject, _ entry: RegisteredClass) -> Bool {
    isChangedElsewhere(object.rowID, entry)
      && !foreign.isDeleted(ObjectKey(classID: entry.classID, rowID: object.rowID))
  }

  /// Makes an object one that is in no store.
  func release(_ object: StoredObject, _ entry: RegisteredClass) {
    if let history {
      let key = ObjectKey(classID: entry.classID, rowID: object.rowID)
      history.noteDeparture(of: object, key)
    }
    entry.release(object)
  }

  func noteChange() {
    if isEncoding { changedWhileEncoding = true }
  }
}
