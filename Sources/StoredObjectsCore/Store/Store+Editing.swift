extension Store {
  /// Adds an object to the store.
  ///
  /// The next save writes it.
  ///
  /// The object gets its row ID now, so that others can refer to it. Inserting an object twice does
  /// nothing, and inserting one that was deleted since the last save takes the deletion back.
  ///
  /// - Precondition: the object's class is registered, the object is in no other store, and it is not
  ///   one whose record could not be read before it was deleted or its store was gone.
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
    delegate?.store(self, willInsert: object)
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
    delegate?.storeDidChange(self)
  }

  private func undelete(_ object: StoredObject, _ entry: RegisteredClass) {
    guard object.state.contains(.deleted) else { return }
    delegate?.store(self, willInsert: object)
    noteChange()
    noteAbsence(of: object, entry)
    entry.mark(object) { $0.remove(.deleted) }
    if entry.isAttentive { relationships?.didInsert(object, entry) }
    delegate?.storeDidChange(self)
  }

  /// Removes an object from the store.
  ///
  /// The next save removes its record.
  ///
  /// The object's ``StoredObject/prepareForDelete()`` runs first, and may delete others. References
  /// that other objects hold are theirs to remove: saving one of them before that is an error.
  /// Deleting an object that is in no store, or deleted already, does nothing.
  ///
  /// - Precondition: the object is in no other store.
  ///
  /// Complexity: constant time, and what `prepareForDelete()` costs; the record of a fault is read.
  public func delete(_ object: StoredObject) {
    guard let entry = object.registration, !object.state.contains(.deleted) else { return }
    precondition(entry.store === self, "The object is in another store.")
    settleRelationships()
    // Its content outlives its record. One that can't be read may well be the reason to delete it.
    try? object.fetchContent()
    delegate?.store(self, willDelete: object)
    noteChange()
    noteImage(of: object, entry)
    // Marked first: a rule that comes back to this object ends here.
    entry.mark(object) { $0.insert(.deleted) }
    object.prepareForDelete()
    settleRelationships()
    if entry.isAttentive { relationships?.didDelete(object, entry, self) }
    delegate?.storeDidChange(self)
  }

  /// Tells the store that an object is about to change.
  ///
  /// ``Content`` does it by itself.
  ///
  /// A fault's record is read first. When that fails, the object stays as it is on disk, the change
  /// is not saved, and ``fetchFailures`` says so.
  ///
  /// Complexity: constant time; nothing but a flag test for an object that has changed before.
  public func willUpdate(_ object: StoredObject) {
    guard let entry = object.registration, entry.store === self,
      object.state.isDisjoint(with: [.editable, .loading])
    else { return }
    object.checkForContent()
    guard object.hasContent else { return }
    noteImage(of: object, entry)
    if entry.isAttentive {
      if isTracked(object) { trackEdit(of: object, entry) }
    } else {
      object.state.insert(.editable)
    }
    // Changed before, in an earlier step.
    guard object.state.isDisjoint(with: [.inserted, .updated]) else { return }
    // Marked first: a delegate that changes this object ends here.
    entry.mark(object) { $0.insert(.updated) }
    delegate?.store(self, willUpdate: object)
    noteChange()
    delegate?.storeDidChange(self)
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
    if hadChanges { delegate?.storeDidChange(self) }
  }

  private func discard(_ object: StoredObject, _ entry: RegisteredClass) {
    if object.state.contains(.inserted) {
      release(object, entry)
      object.state = [.hasContent, .detached]
    } else if object.state.contains(.updated) || isChangedElsewhere(object.rowID, entry) {
      object.state.formIntersection(.special)
      object.noteObservedChange()
    } else {
      object.state.subtract([.deleted, .pending, .editable])
    }
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
