// Several stores on one backend: each sees what the others have saved when it reads a record. What
// it has read before stays as it is until it asks, and a change that rests on an outdated record is
// not saved without a word; see Store+Conflicts.swift.

import StoreEngine

extension Store {
  /// Makes objects that other stores on the backend have saved since faults, which read their
  /// record when next used.
  ///
  /// Objects that have unsaved changes here too are left alone: the next save throws `conflict`,
  /// see ``keepConflictingChanges()``.
  ///
  /// Complexity: linear in the number of rows changed elsewhere.
  public func mergeChanges() {
    // Other processes may have saved, and nobody has looked.
    _ = backend.lastCommitNumber
    mergeChanges(keepsDeleted: false)
    updateLiveQueries()
  }

  /// Finds out what others have committed, before something is asked for that no read would bring: the
  /// last row that they have given out.
  func refreshIfShared() { if backend.coordinator.isShared { _ = backend.lastCommitNumber } }

  /// Merges, and leaves objects alone that are deleted elsewhere if that is wanted: they could not
  /// be read again.
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
      let conflicting = names.filter { pendingNames[$0] != nil }
      foreign.names = conflicting.isEmpty ? nil : conflicting
    }
    if !hasDeletions { foreign.forgetWritten() }
    collectExternals()
  }

  /// Makes an object a fault, so that it reads its record again when next used.
  ///
  /// Does nothing for an object with unsaved changes, or in no store.
  public func refresh(_ object: StoredObject) {
    guard object.registration?.store === self, !object.hasUnsavedChanges else { return }
    makeFault(object)
    updateLiveQueries()
  }

  /// Makes every object without unsaved changes a fault, and lets each drop its references to
  /// others (``StoredObject/dissolveAllRelationships()``), so that objects in cycles are freed.
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
        // Its content will be the same.
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
  /// Adds what other stores have saved to what this store knows of it.
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

  /// Other processes have saved, and nobody knows what: whatever is here may be another.
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
      foreign.names = (foreign.names ?? []).union(pendingNames.keys)
    }
  }

  /// Whether a row is there; one that can't be read is reported when it is.
  private func exists(_ rowID: UInt32, _ entry: RegisteredClass) -> Bool {
    (try? backend.withRecord(rowID, in: entry.table) { _ in true } ?? false) ?? true
  }

  private func note(_ news: ForeignNews.Table, _ entry: RegisteredClass) {
    entry.liveQueries?.note(news, entry)
    foreign.add(news, entry.classID)
    entry.faultsAhead?.remove(news)
    news.changed.forEach { rowID in
      // An object that is not here, or a fault, will read the new record.
      if let object = entry.living(rowID), !object.state.isFault {
        foreign.outdated.insert(rowID, in: entry.table)
      }
      let key = ObjectKey(classID: entry.classID, rowID: rowID)
      if foreign.isReliedOn(key) { foreign.brokenReliance = key }
    }
    noteReturns(news, entry)
    history?.noteForeignChanges(news, entry)
    // An object that comes back here may have come back there.
    for object in entry.pending where object.state.contains(.inserted) {
      if news.written.contains(object.rowID) {
        foreign.outdated.insert(object.rowID, in: entry.table)
      }
    }
  }

  /// A row that is inserted again is no changed one, but unsaved changes may rest on its absence.
  private func noteReturns(_ news: ForeignNews.Table, _ entry: RegisteredClass) {
    foreign.reliedOn(entry.classID).forEach { rowID in
      if news.written.contains(rowID) {
        foreign.brokenReliance = ObjectKey(classID: entry.classID, rowID: rowID)
      }
    }
  }

  /// Whether another store has changed a row since it was read here, as far as is known.
  func isChangedElsewhere(_ rowID: UInt32, _ entry: RegisteredClass) -> Bool {
    foreign.outdated.contains(rowID, in: entry.table)
  }

  /// Whether another store has deleted the row of an object, as far as is known.
  func isDeletedElsewhere(_ object: StoredObject, _ entry: RegisteredClass) -> Bool {
    foreign.isDeleted(ObjectKey(classID: entry.classID, rowID: object.rowID))
      && !object.state.contains(.inserted)
  }

  /// A row is about to be read: what others had changed before is no surprise any more.
  func forgetChangeElsewhere(_ rowID: UInt32, _ entry: RegisteredClass) {
    collectChangesElsewhere()
    forgetKnownChange(rowID, entry)
  }

  /// The same, for a record that was read before: news since then still count.
  func forgetKnownChange(_ rowID: UInt32, _ entry: RegisteredClass) {
    if !foreign.outdated.isEmpty { foreign.outdated.remove(rowID, in: entry.table) }
    // A deletion rests on who referred to the object then.
    if foreign.mayHaveWritten, !hasDeletions {
      foreign.forgetWritten(ObjectKey(classID: entry.classID, rowID: rowID))
    }
  }

  /// Whether the next save deletes anything.
  var hasDeletions: Bool { classes.contains { $0.changeCounts.deletes > 0 } }

  /// Notes that unsaved changes rest on what an object is here, which they do not write.
  func relyOn(_ object: StoredObject) {
    guard let entry = object.registration, object.state.change == nil else { return }
    let key = ObjectKey(classID: entry.classID, rowID: object.rowID)
    foreign.relyOn(key)
    if isChangedElsewhere(object.rowID, entry) { foreign.brokenReliance = key }
  }

  /// Notes that unsaved changes rest on it that another store has deleted an object.
  func relyOnAbsence(of object: StoredObject) {
    guard let entry = object.registration, isDeletedElsewhere(object, entry) else { return }
    foreign.relyOn(ObjectKey(classID: entry.classID, rowID: object.rowID))
  }
}
