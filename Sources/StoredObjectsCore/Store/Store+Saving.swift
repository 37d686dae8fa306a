import StoreEngine

extension Store {
  /// Saves all changes since the last save, atomically.
  ///
  /// Does nothing if there are no changes. After an error everything is as it was before the call:
  /// nothing has been written, the changes are unsaved, the objects are unchanged, and you can try
  /// again.
  ///
  /// Complexity: linear in the number of changed objects and the size of their records.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notEncodable` (an object can't be written, or
  ///   refers to one that is not in the store), `contentUnavailable` (see ``fetchFailures``),
  ///   `deleteDenied`, `notUnique`, `conflict` (see ``keepConflictingChanges()``),
  ///   `rowIDsExhausted`, `nestedWrite` (see ``transaction(attempts:_:)``), `newerVersion` and
  ///   `unfinishedMigration` (see ``migrate(_:registering:progress:)``), `readOnly`, `noSpace`,
  ///   `ioError`, `damaged` or `closed`.
  public func saveChanges() throws(StoreError) {
    tellLookUps()
    try backend.measure(.save) { () throws(StoreError) in try saveAllChanges() }
  }

  private func saveAllChanges() throws(StoreError) {
    guard try prepareSave() else { return acceptChanges() }
    try commitAllChanges()
    finishSave()
  }

  /// Checks what a save needs, and completes the changes; returns false if there are none.
  func prepareSave() throws(StoreError) -> Bool {
    try checkForTransaction()
    try checkSaveByMigrations()
    relationships?.endModifications()
    settleRelationships()
    try checkForFetchFailures()
    try relationships?.checkDeleteRules(classes)
    try saveHistory()
    liveQueries?.updateAll()
    return hasUnsavedChanges
  }

  /// Marks the changes of a commit as saved, and notifies observers.
  func finishSave() {
    acceptChanges()
    updateLiveQueries()
    tellFoldFailure()
    tell { $0.storeDidSave(self) }
    tell { $0.storeDidChange(self) }
  }

  /// The number of times that a save may merge what others have saved, and try again.
  var mergeAttemptsOfSave: Int {
    configuration.conflictPolicy == .error || !transactions.isEmpty ? 0 : Self.mergeAttempts
  }

  /// Commits the changes, and resolves conflicts by the configured policy.
  private func commitAllChanges() throws(StoreError) {
    var attemptsLeft = mergeAttemptsOfSave
    while true {
      do {
        let isExclusive = commitHook != nil
        if try !commitChanges(exclusively: isExclusive) { try commitExclusively() }
        return
      } catch { try resolveConflicts(of: error, &attemptsLeft) }
    }
  }

  /// Resolves the conflicts of a failed attempt, or throws its error if it was the last one.
  func resolveConflicts(of error: StoreError, _ attemptsLeft: inout Int) throws(StoreError) {
    guard error.code == .conflict, attemptsLeft > 0 else { throw error }
    attemptsLeft -= 1
    try resolveConflicts()
  }

  /// Commits the changes while no other store does.
  func commitExclusively() throws(StoreError) { while try !commitChanges(exclusively: true) {} }

  /// Encodes and commits the changes.
  ///
  /// Other stores may commit concurrently: while this store waits for the disk, they prepare their
  /// commits, and share the next sync. A concurrent commit is no conflict if it does not affect the
  /// changes here. If it may, this commit is prepared again, while no other store commits.
  ///
  /// - Returns: false if another store has committed something that matters.
  private func commitChanges(exclusively isExclusive: Bool = false) throws(StoreError) -> Bool {
    var (encoder, deletionCount) = try encodedChanges()
    do {
      let coordinator = backend.coordinator
      if isExclusive || needsOthersToWait {
        return try coordinator.whileCommitting { () throws(StoreError) in
          try commit(&encoder, deletionCount, nil)
        }
      }
      return try coordinator.whileTakingTurn { (turn) throws(StoreError) in
        try commit(&encoder, deletionCount, turn)
      }
    } catch {
      return try failedCommit(error)
    }
  }

  /// Encodes the changes; returns them with the number of deletions by others that are known.
  func encodedChanges() throws(StoreError) -> (ChangeSetEncoder, deletionCount: Int) {
    collectChangesElsewhere()
    let deletionCount = foreign.deletionCount
    // Changes based on outdated objects may not even be encodable.
    try checkForConflicts()
    let encoder = try encodeChanges()
    // Encoding an object may have read others.
    try checkForFetchFailures()
    return (encoder, deletionCount)
  }

  /// Returns false for a commit that has to be prepared again, or throws its error.
  func failedCommit(_ error: StoreError) throws(StoreError) -> Bool {
    if backend.coordinator.isOvertaken(error) { return false }
    tellFoldFailure()
    throw .wrapping(error, .ioError, at: .init(path: backend.location))
  }

  /// Commits the encoded changes in a turn; without a turn, no other store commits meanwhile.
  private func commit(
    _ encoder: inout ChangeSetEncoder, _ deletionCount: Int, _ turn: CommitTurn?
  ) throws(StoreError) -> Bool {
    guard let prepared = try prepareCommit(&encoder, deletionCount, turn) else { return false }
    do {
      let (changes, request) = (prepared.changes, prepared.request)
      let commit = try backend.measure(.commit, byteCount: changes.bytes.count) {
        () throws(StoreError) in
        try backend.commit(changes, request)
      }
      finish(prepared, commit)
      return true
    } catch  where error.code == .conflict && turn != nil {
      return false
    } catch {
      didFail(error)
      throw error
    }
  }

  /// Completes the encoded changes in a turn, for the backend; nil if another store has committed
  /// something that matters.
  func prepareCommit(
    _ encoder: inout ChangeSetEncoder, _ deletionCount: Int, _ turn: CommitTurn?
  ) throws(StoreError) -> PreparedCommit? {
    let number = backend.lastCommitNumber
    let orderedTableNews = backend.coordinator.orderedTableNews
    collectChangesElsewhere()
    guard foreign.deletionCount == deletionCount else { return nil }
    try checkForConflicts()
    relationships?.willCommit()
    try reconcileLayouts()
    try checkClassVersions()
    encoder.appendLayouts(of: classes)
    let metadata = encoder.appendMetadata(of: classes)
    var changes = encoder.changeSet()
    let valueChanges = try addExternalChanges(to: &changes)
    var request = CommitRequest(author: configuration.author, basis: basis(upTo: number))
    request.sender = inbox
    guard try addIndexChanges(to: &changes, &request, mayBuild: turn == nil) else { return nil }
    try addTextChanges(to: &changes)
    if turn == nil, backend.lastCommitNumber != number {
      // Indexes that were built in between are commits, too.
      request.basis?.number = backend.lastCommitNumber
      collectChangesElsewhere()
      guard foreign.deletionCount == deletionCount else { return nil }
      try checkForConflicts()
    }
    if keepsEarlierRecords { try keepEarlierRecords(&changes) }
    try commitHook?(&changes, &request)
    request.follower = turn
    for entry in classes { entry.faultsAhead?.removeAll() }
    return PreparedCommit(
      changes: changes, request: request, metadata: metadata, valueChanges: valueChanges,
      orderedTableNews: orderedTableNews)
  }

  /// Updates what the store knows of the backend after a commit.
  func finish(_ prepared: PreparedCommit, _ commit: Commit?) {
    if let commit { lastCommit = commit }
    clearLateIndexes(unless: prepared.orderedTableNews)
    didCommit(prepared.valueChanges)
    for (entry, saved) in prepared.metadata { entry.shared.setMetadata(saved) }
    for entry in classes where entry.savesLayouts { entry.layouts.needsSaving = false }
    relationships?.didCommit(prepared.changes)
    publish(prepared.changes)
  }

  /// Whether the commit must be prepared while no other store commits.
  ///
  /// The save may conflict with more than the rows and keys that it changes. A deletion concerns
  /// every store that may refer to the object. Every save changes the statistics of a full-text
  /// index, and the metadata of a class may change.
  var needsOthersToWait: Bool {
    classes.contains { entry in
      entry.changeCounts.deletes > 0 || entry.changesMetadata
        || entry.fullText != nil && !entry.changeCounts.isEmpty
    }
  }

  /// Returns the basis of the save: the rows that it depends on besides those that it changes.
  private func basis(upTo number: UInt64) -> CommitBasis {
    var basis = CommitBasis(upTo: number)
    // Checked first: calling a method on a property copies the value.
    guard foreign.mayRely else { return basis }
    for entry in classes {
      foreign.reliedOn(entry.classID).forEach { basis.rows.append((entry.table, $0)) }
    }
    return basis
  }

  private func checkForFetchFailures() throws(StoreError) {
    guard let first = fetchFailures.first else { return }
    throw StoreError(
      .contentUnavailable,
      """
      \(fetchFailures.count) records could not be read when they were needed, so properties gave \
      their defaults. Look at fetchFailures, then call acknowledgeFetchFailures() or \
      discardChanges().
      """,
      at: first.error.location, underlying: first.error)
  }

  private func encodeChanges() throws(StoreError) -> ChangeSetEncoder {
    guard !isEncoding else {
      throw StoreError(.notEncodable, "writeContent(to:) must not save.")
    }
    isEncoding = true
    changedWhileEncoding = false
    defer { isEncoding = false }
    externals?.beginSave()
    var encoder = ChangeSetEncoder(store: self)
    do throws(StoreError) {
      for entry in classes { try encoder.encode(entry) }
    } catch {
      throw externals?.failure ?? error
    }
    encoder.encode(names: pendingNames)
    guard !changedWhileEncoding else {
      throw StoreError(
        .notEncodable, "writeContent(to:) must not insert, delete or change any object.")
    }
    return encoder
  }

  /// Marks all pending changes as saved and releases them.
  func acceptChanges() {
    foreign.forgetReliance()
    let forgetsWritten = foreign.mayHaveWritten && foreign.hasWritten
    for entry in classes {
      let saved = entry.takePending()
      // Lent, not copied one by one, which would count a reference to each.
      let objects = saved.span
      for index in objects.indices {
        if forgetsWritten {
          foreign.forgetWritten(ObjectKey(classID: entry.classID, rowID: objects[index].rowID))
        }
        if objects[index].state.contains(.deleted) { depart(objects[index], entry) }
        objects[index].state.subtract([.inserted, .updated, .deleted, .pending, .editable])
      }
    }
    separateDeleted()
    relationships?.losses.removeAll()
    mergeBases.removeAll()
    history?.didSave(pendingNames)
    pendingNames = PendingNames()
    collectExternals()
  }

  /// Removes a deleted object from the store.
  private func depart(_ object: StoredObject, _ entry: RegisteredClass) {
    release(object, entry)
    object.state.insert(.departed)
  }
}
