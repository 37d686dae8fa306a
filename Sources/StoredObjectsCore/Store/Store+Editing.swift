import StoreEngine

extension Store {
  /// Inserts an object into the store.
  ///
  /// The next save writes it.
  ///
  /// The object gets its row ID at once, so that others can refer to it. Inserting an object twice
  /// does nothing. Inserting an object that was deleted since the last save undoes the deletion,
  /// and restores the references that the deletion removed.
  ///
  /// - Precondition: the object's class is registered, and the object is in no other store. An
  ///   object that was deleted, or that has outlived its store, has its content: its record could
  ///   be read.
  ///
  /// Complexity: constant time.
  public func insert(_ object: StoredObject) {
    if object.registration != nil, isInStore(object) { return }
    guard let entry = registration(of: type(of: object)) else {
      preconditionFailure("Register \(type(of: object)) with the store before inserting.")
    }
    precondition(object.hasContent, "The object was deleted, and its content never read.")
    if hasDelegate {
      guard tell(object, { $0.store(self, willInsert: object) }), object.registration == nil else {
        return
      }
    }
    noteChange()
    // Row 0 means that no row ID was available; the save refuses it.
    entry.adopt(object, entry.nextRowID() ?? 0)
    noteAbsence(of: object, entry)
    if entry.isAttentive {
      entry.mark(object) { $0.formUnion([.inserted, .hasContent]) }
      relationships?.didInsert(object, entry)
    } else {
      entry.mark(object) { $0.formUnion([.inserted, .hasContent, .editable]) }
    }
    tellDidChange()
  }

  /// Inserts an object that has its content and a row ID, but no record.
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

  /// Restores an object that is already in the store; releases one that has outlived its store.
  ///
  /// Not inlined: a new object needs nothing of it.
  ///
  /// - Returns: Whether the object was in this store.
  @inline(never) private func isInStore(_ object: StoredObject) -> Bool {
    guard let entry = object.registration else { return false }
    if entry.store == nil {
      entry.release(object)
      return false
    }
    precondition(entry.store === self, "The object is in another store: delete it there first.")
    undelete(object, entry)
    return true
  }

  private func undelete(_ object: StoredObject, _ entry: RegisteredClass) {
    guard object.state.contains(.deleted) else { return }
    guard tell(object, { $0.store(self, willInsert: object) }), object.registration === entry,
      object.state.contains(.deleted)
    else { return }
    noteChange()
    noteAbsence(of: object, entry)
    // Must run while the object is still marked as deleted.
    relationships?.settleDeletions()
    entry.mark(object) { $0.remove(.deleted) }
    relationships?.didUndelete(object, entry)
    tellDidChange()
  }

  /// Deletes an object from the store.
  ///
  /// The next save removes its record.
  ///
  /// The object's ``StoredObject/prepareForDelete()`` runs first, and may delete other objects.
  /// Other objects have to remove their references to it: saving one of them before that is an
  /// error. Deleting an object that is in no store, or already deleted, does nothing.
  ///
  /// After the save the object keeps its values. It no longer refers to objects that were deleted
  /// before it, so that deleted objects do not keep each other alive.
  ///
  /// - Precondition: the object is in no other store.
  ///
  /// Complexity: constant time, plus the cost of `prepareForDelete()`; reads the record of a fault.
  public func delete(_ object: StoredObject) {
    guard let entry = object.registration, !object.state.contains(.deleted) else { return }
    precondition(entry.store === self, "The object is in another store.")
    settleRelationships(of: object)
    // The content outlives the record. A record that can't be read may be the reason for deleting.
    try? object.fetchContent()
    guard tell(object, { $0.store(self, willDelete: object) }), object.registration === entry,
      !object.state.contains(.deleted)
    else { return }
    noteChange()
    noteImage(of: object, entry)
    // Marked first, so that a rule that reaches this object again stops here.
    entry.mark(object) { $0.insert(.deleted) }
    deletions.append(object)
    // A rule may delete the next object, and so on. Beyond some depth, deletions are queued.
    if deletions.depth < Deletions.maximumDepth { finishDeletions() }
  }

  /// Runs the delete rules of the objects that are being deleted.
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

  /// Deletes the object of a row, even one whose record can't be read.
  ///
  ///     try store.delete(Song.self, rowID: failure.rowID)
  ///
  /// Has the same effect as ``delete(_:)``, which needs an object, and so a readable record.
  ///
  /// Complexity: As ``delete(_:)``, after a look-up of the record.
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
      // A record that can't be opened still exists.
      return true
    } catch { throw .wrapping(error, .ioError, at: entry.location(rowID)) }
  }

  /// Notifies the store that an object is about to change.
  ///
  /// ``Content`` properties call it for you.
  ///
  /// The record of a fault is read first. If that fails, the object stays as it is on disk, the
  /// change is not saved, and ``fetchFailures`` has an entry.
  ///
  /// Complexity: as ``StoredObject/willUpdate()``.
  public func willUpdate(_ object: StoredObject) { willUpdate(object, isFollowed: false) }

  /// Does the same; with `isFollowed`, ``didUpdate(_:)`` notifies the delegate after the change.
  func willUpdate(_ object: StoredObject, isFollowed: Bool) {
    guard let entry = object.registration, entry.store === self,
      object.state.isDisjoint(with: [.editable, .loading]), prepareUpdate(of: object, entry)
    else { return }
    // Skipped if the object has changed before, in an earlier undo step.
    if object.state.isDisjoint(with: [.inserted, .updated]) {
      beginUpdate(of: object, entry, isFollowed)
    }
    if let live = entry.liveQueries { live.willEdit(object, isFollowed: isFollowed) }
  }

  /// Marks an object that changes for the first time since it was saved.
  private func beginUpdate(
    of object: StoredObject, _ entry: RegisteredClass, _ isFollowed: Bool
  ) {
    // Marked first, so that a delegate that changes this object does not get here again.
    entry.mark(object) { $0.insert(.updated) }
    noteChange()
    guard delegate != nil else { return }
    tell { $0.store(self, willUpdate: object) }
    if !isFollowed { tellDidChange() }
    guard object.registration === entry else { return }
    if isFollowed { object.state.insert(.changing) }
    // The delegate may have saved or discarded the object's content.
    guard object.state.isDisjoint(with: .editable), prepareUpdate(of: object, entry) else { return }
    if object.state.isDisjoint(with: [.inserted, .updated]) {
      entry.mark(object) { $0.insert(.updated) }
    }
  }

  /// Reads the record of an object that is about to change, and keeps its image.
  ///
  /// - Returns: false if the record can't be read.
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

  /// Reports that a property was changed in place to the live results waiting for it.
  func didModify(_ object: StoredObject) {
    object.state.remove(.beingModified)
    object.registration?.liveQueries?.note(object)
    updateLiveQueries()
  }

  /// Reports that a change announced by ``willUpdate(_:isFollowed:)`` has been made.
  func didUpdate(_ object: StoredObject) {
    object.state.remove(.changing)
    tellDidChange()
  }

  /// A Boolean value that indicates whether a save would write anything.
  ///
  /// Complexity: linear in the number of classes.
  public var hasUnsavedChanges: Bool {
    !pendingNames.isEmpty || classes.contains { !$0.changeCounts.isEmpty }
  }

  /// Discards all changes since the last save.
  ///
  /// Inserted objects leave the store and keep their properties. Deleted objects are restored.
  /// Changed objects become faults that read the saved record, as do objects that other stores have
  /// changed (``mergeChanges()``). Named buffers are as saved, and ``fetchFailures`` is empty.
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
    pendingNames = PendingNames()
    // No remaining change depends on anything that other stores have changed.
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

  /// Whether an object restored here was also restored and saved by another store.
  ///
  /// Objects that were read since then may refer to it.
  private func hasComeBackElsewhere(_ object: StoredObject, _ entry: RegisteredClass) -> Bool {
    isChangedElsewhere(object.rowID, entry)
      && !foreign.isDeleted(ObjectKey(classID: entry.classID, rowID: object.rowID))
  }

  /// Removes an object from the store.
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
