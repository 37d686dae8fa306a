// Several stores on one backend: each store sees what others have saved when it reads a record. An
// object that it has read before stays as it is until `mergeChanges()`. A change based on an
// outdated record is not saved silently; see Store+Conflicts.swift.

import StoreEngine

extension Store {
  /// Merges the changes that other stores on the backend have saved: changed objects become faults.
  ///
  /// The faults read their record when they are next used. Objects that also have unsaved changes
  /// here are left alone: the next save throws `conflict`, see ``keepConflictingChanges()``.
  ///
  /// Complexity: linear in the number of rows changed elsewhere.
  public func mergeChanges() {
    // Makes the backend look for commits of other processes.
    _ = backend.lastCommitNumber
    mergeChanges(keepsDeleted: false)
    updateLiveQueries()
  }

  /// Looks for commits of other processes, before using something that no read updates.
  ///
  /// This is the last row ID that other processes have assigned.
  func refreshIfShared() { if backend.coordinator.isShared { _ = backend.lastCommitNumber } }

  /// Merges changes; with `keepsDeleted`, leaves objects alone that another store has deleted.
  ///
  /// Such objects could not be read again.
  func mergeChanges(keepsDeleted: Bool) {
    tellLookUps()
    collectChangesElsewhere()
    for entry in classes {
      foreign.outdated[entry.table] = foreign.outdated[entry.table].filter { rowID in
        guard let object = entry.living(rowID) else { return false }
        if object.state.differsFromSaved { return true }
        if keepsDeleted, isDeletedElsewhere(object, entry) { return true }
        makeFault(object)
        return false
      }
    }
    liveQueries?.merge()
    if let names = foreign.names {
      let conflicting = names.filter { pendingNames.contains($0) }
      foreign.names = conflicting.isEmpty ? nil : conflicting
    }
    if !hasDeletions { foreign.forgetWritten() }
    collectExternals()
  }

  /// Makes an object a fault, so that it reads its record again when it is next used.
  ///
  /// Does nothing for an object with unsaved changes, or in no store.
  ///
  /// Complexity: linear in the size of the object.
  public func refresh(_ object: StoredObject) {
    guard object.registration?.store === self, !object.hasUnsavedChanges else { return }
    makeFault(object)
    updateLiveQueries()
  }

  /// Makes every object without unsaved changes a fault and drops its references to other objects.
  ///
  /// This frees objects in reference cycles; see ``StoredObject/dissolveAllRelationships()``.
  ///
  /// Complexity: linear in the number of objects in memory.
  public func dissolveAllRelationships() {
    settleRelationships()
    let queue = ReleaseQueue.current
    defer { queue.empty() }
    for entry in classes {
      for object in entry.livingObjects where !object.hasUnsavedChanges {
        object.state.insert(.loading)
        object.dissolveAllRelationships()
        // For classes that do not override dissolveAllRelationships().
        entry.references?.dissolve(object, contentOnly: true, into: queue)
        object.state.remove(.loading)
        // The object will read the same content again.
        object.state.remove(.hasContent)
        object.tellObservers()
      }
    }
  }

  private func makeFault(_ object: StoredObject) {
    if object.state.contains(.loading) { return }
    object.state.remove(.hasContent)
    object.registration?.faultsAhead?.note(object.rowID)
    object.noteObservedChange()
  }
}

// MARK: - News

extension Store {
  /// Collects the changes that other stores have saved.
  func collectChangesElsewhere() {
    guard inbox.hasNews else { return }
    relationships?.forgetIndexes()
    let news = inbox.take()
    for table in news.tables {
      // Nothing of a class that is not registered has been read.
      if let entry = classes.first(where: { $0.table == table.table }) { note(table, entry) }
    }
    if news.isIncomplete { noteEverything() }
    guard let names = news.names else { return }
    if foreign.names == nil { foreign.names = [] }
    foreign.names?.formUnion(names)
    for entry in classes where names.contains(ExactName(LayoutFormat.bufferName(of: entry.name))) {
      entry.mayBeOutdated = true
    }
    history?.noteForeignChanges(names)
  }

  /// Treats all objects in memory as changed, because other processes have saved unknown changes.
  private func noteEverything() {
    liveQueries?.reloadLater()
    for entry in classes {
      entry.mayBeOutdated = true
      var news = ForeignNews.Table(table: entry.table)
      for object in entry.livingObjects
      where !object.state.isFault && !object.state.contains(.inserted) {
        news.changed.insert(object.rowID)
        if exists(object.rowID, entry) {
          news.written.insert(object.rowID)
        } else {
          news.deleted.insert(object.rowID)
        }
      }
      note(news, entry)
    }
    if !pendingNames.isEmpty {
      foreign.names = (foreign.names ?? []).union(pendingNames.names)
    }
  }

  /// Whether a row exists; true for a row that can't be read, which is reported when it is read.
  func exists(_ rowID: UInt32, _ entry: RegisteredClass) -> Bool {
    (try? backend.withRecord(rowID, in: entry.table) { _ in true } ?? false) ?? true
  }

  private func note(_ news: ForeignNews.Table, _ entry: RegisteredClass) {
    entry.liveQueries?.note(news, entry)
    foreign.add(news, entry.classID)
    entry.faultsAhead?.remove(news)
    news.changed.forEach { rowID in
      // An object that is not in memory, or a fault, will read the new record.
      if let object = entry.living(rowID), !object.state.isFault {
        foreign.outdated.insert(rowID, in: entry.table)
      }
      let key = ObjectKey(classID: entry.classID, rowID: rowID)
      if foreign.isReliedOn(key) { foreign.brokenReliance = key }
    }
    noteReturns(news, entry)
    history?.noteForeignChanges(news, entry)
    // An object that is restored here may have been restored there, too.
    for object in entry.pending where object.state.contains(.inserted) {
      if news.written.contains(object.rowID) {
        foreign.outdated.insert(object.rowID, in: entry.table)
      }
    }
  }

  /// Notes changes that depend on the absence of rows that were inserted again.
  ///
  /// An inserted row is not in `changed`.
  private func noteReturns(_ news: ForeignNews.Table, _ entry: RegisteredClass) {
    foreign.reliedOn(entry.classID).forEach { rowID in
      if news.written.contains(rowID) {
        foreign.brokenReliance = ObjectKey(classID: entry.classID, rowID: rowID)
      }
    }
  }

  /// Whether another store is known to have changed a row since it was read here.
  func isChangedElsewhere(_ rowID: UInt32, _ entry: RegisteredClass) -> Bool {
    foreign.outdated.contains(rowID, in: entry.table)
  }

  /// Whether another store is known to have deleted the row of an object.
  func isDeletedElsewhere(_ object: StoredObject, _ entry: RegisteredClass) -> Bool {
    foreign.isDeleted(ObjectKey(classID: entry.classID, rowID: object.rowID))
      && !object.state.contains(.inserted)
  }

  /// Forgets earlier changes by other stores to a row, because the row is about to be read.
  func forgetChangeElsewhere(_ rowID: UInt32, _ entry: RegisteredClass) {
    collectChangesElsewhere()
    forgetKnownChange(rowID, entry)
  }

  /// Forgets the collected changes to a row whose record has been read.
  ///
  /// Later changes still count.
  func forgetKnownChange(_ rowID: UInt32, _ entry: RegisteredClass) {
    if !foreign.outdated.isEmpty { foreign.outdated.remove(rowID, in: entry.table) }
    // A deletion depends on which objects referred to the object then.
    if foreign.mayHaveWritten, !hasDeletions {
      foreign.forgetWritten(ObjectKey(classID: entry.classID, rowID: rowID))
    }
  }

  /// Whether the next save deletes anything.
  var hasDeletions: Bool { classes.contains { $0.changeCounts.deletes > 0 } }

  /// Notes that unsaved changes depend on the content of an object that they do not write.
  func relyOn(_ object: StoredObject) {
    guard let entry = object.registration, object.state.change == nil else { return }
    let key = ObjectKey(classID: entry.classID, rowID: object.rowID)
    foreign.relyOn(key)
    if isChangedElsewhere(object.rowID, entry) { foreign.brokenReliance = key }
  }

  /// Notes that unsaved changes depend on another store's deletion of an object.
  func relyOnAbsence(of object: StoredObject) {
    guard let entry = object.registration, isDeletedElsewhere(object, entry) else { return }
    foreign.relyOn(ObjectKey(classID: entry.classID, rowID: object.rowID))
  }
}
