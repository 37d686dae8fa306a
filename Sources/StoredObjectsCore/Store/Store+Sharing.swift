// Several stores on one backend: each sees what the others have saved when it reads a record. What it
// has read before stays as it is until it asks, and a change that rests on an outdated record is not
// saved without a word.

extension Store {
  /// Takes in what other stores on the backend have saved since.
  ///
  /// Objects that were changed there become faults, and read anew when next used. Objects that have
  /// unsaved changes here too are left alone: the next save throws `conflict`, see
  /// ``keepConflictingChanges()``.
  ///
  /// Complexity: linear in the number of rows changed elsewhere.
  public func mergeChanges() {
    collectChangesElsewhere()
    for entry in classes {
      rowsChangedElsewhere[entry.table] = rowsChangedElsewhere[entry.table].filter { rowID in
        guard let object = entry.living(rowID) else { return false }
        if object.hasUnsavedChanges { return true }
        makeFault(object)
        return false
      }
    }
  }

  /// Decides a conflict in favour of this store: the next save overwrites what others have saved to
  /// the objects that have unsaved changes here.
  ///
  /// ``discardChanges()`` decides it the other way.
  public func keepConflictingChanges() {
    mergeChanges()
    rowsChangedElsewhere = ChangedRows()
  }

  /// Makes an object a fault, so that it reads its record anew when next used.
  ///
  /// Does nothing for an object with unsaved changes, or in no store.
  public func refresh(_ object: StoredObject) {
    guard object.registration?.store === self, !object.hasUnsavedChanges else { return }
    makeFault(object)
  }

  /// Makes every object without unsaved changes a fault, and lets each drop its references to others
  /// (``StoredObject/dissolveAllRelationships()``), so that objects in cycles are freed.
  ///
  /// Complexity: linear in the number of living objects.
  public func dissolveAllRelationships() {
    settleRelationships()
    let queue = ReleaseQueue.current
    defer { queue.empty() }
    for entry in classes {
      for object in entry.livingObjects where !object.hasUnsavedChanges {
        object.state.insert(.loading)
        object.dissolveAllRelationships()
        // Of classes that say nothing themselves.
        entry.references?.dissolve(object, contentOnly: true, into: queue)
        object.state.remove(.loading)
        makeFault(object)
      }
    }
  }

  private func makeFault(_ object: StoredObject) {
    if object.state.contains(.loading) { return }
    object.state.remove(.hasContent)
    object.noteObservedChange()
  }
}

extension Store {
  func collectChangesElsewhere() {
    guard inbox.hasNews else { return }
    relationships?.forgetIndexes()
    inbox.take().forEach { table, rows in
      rowsChangedElsewhere[table].formUnion(rows)
      history?.noteForeignChanges(rows, classes.first { $0.table == table })
    }
  }

  /// Whether another store has changed a row since it was read here, as far as is known.
  func isChangedElsewhere(_ rowID: UInt32, _ entry: RegisteredClass) -> Bool {
    rowsChangedElsewhere.contains(rowID, in: entry.table)
  }

  /// A row is about to be read: what others had changed before is no surprise any more.
  func forgetChangeElsewhere(_ rowID: UInt32, _ entry: RegisteredClass) {
    collectChangesElsewhere()
    forgetKnownChange(rowID, entry)
  }

  /// The same, for a record that was read before: news since then still count.
  func forgetKnownChange(_ rowID: UInt32, _ entry: RegisteredClass) {
    if !rowsChangedElsewhere.isEmpty { rowsChangedElsewhere.remove(rowID, in: entry.table) }
  }

  /// Stops a save that would overwrite, unseen, what another store has saved.
  func refuseConflicts() throws {
    collectChangesElsewhere()
    for entry in classes {
      let rows = rowsChangedElsewhere[entry.table]
      if rows.isEmpty { continue }
      let conflict = entry.pending.first {
        ($0.state.change == .update || $0.state.change == .delete) && rows.contains($0.rowID)
      }
      guard let conflict else { continue }
      throw StoreError(
        .conflict,
        """
        Another store has saved a change to this object since it was read here. \
        discardChanges() takes theirs, keepConflictingChanges() and another save takes yours.
        """,
        at: entry.place(conflict.rowID))
    }
  }
}
