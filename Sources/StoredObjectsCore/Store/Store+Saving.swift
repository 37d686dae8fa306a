import StoreEngine

extension Store {
  /// Writes all changes since the last save, as one: after an error, nothing has been written.
  ///
  /// Does nothing when there are no changes. After an error everything is as it was before the
  /// call: the changes are unsaved, the objects untouched, and the save can be tried again.
  ///
  /// Complexity: linear in the number of changed objects and the size of their records.
  ///
  /// - Throws: ``StoreError`` with `notEncodable` (an object can't be written, or refers to one
  ///   that is not in the store), `contentUnavailable` (see ``fetchFailures``), `deleteDenied`,
  ///   `notUnique`, `conflict` (see ``keepConflictingChanges()``), `rowIDsExhausted`, `readOnly`,
  ///   `full`, `ioError`, `damaged` or `closed`.
  public func saveChanges() throws(StoreError) {
    relationships?.endModifications()
    settleRelationships()
    try refuseFetchFailures()
    try relationships?.refuseDenied(classes)
    try saveHistory()
    guard hasUnsavedChanges else { return acceptChanges() }
    while try !commitChanges() {}
    acceptChanges()
    tellFoldFailure()
    tell { $0.storeDidSave(self) }
    tell { $0.storeDidChange(self) }
  }

  /// Encodes and commits the changes.
  ///
  /// - Returns: false if another store has deleted objects since, to which the changes may refer.
  private func commitChanges() throws(StoreError) -> Bool {
    collectChangesElsewhere()
    let deletionCount = foreign.deletionCount
    // What rests on outdated objects may not even be encodable.
    try refuseConflicts()
    var encoder = try encodeChanges()
    // Writing an object may have read others.
    try refuseFetchFailures()
    var isDone = false
    do {
      try backend.coordinator.whileCommitting {
        try refuseOtherOrder()
        collectChangesElsewhere()
        guard foreign.deletionCount == deletionCount else { return }
        try refuseConflicts()
        isDone = true
        relationships?.willCommit()
        let metadata = encoder.appendMetadata(of: classes)
        var changes = encoder.changeSet()
        try addIndexChanges(to: &changes)
        try addTextChanges(to: &changes)
        try backend.commit(changes)
        for (entry, saved) in metadata { entry.shared.setMetadata(saved) }
        backend.coordinator.announce(changes, from: inbox)
        relationships?.didCommit()
        publish(changes)
      }
    } catch {
      tellFoldFailure()
      throw .wrapping(error, .ioError, at: .init(path: backend.location))
    }
    return isDone
  }

  private func refuseFetchFailures() throws(StoreError) {
    guard let first = fetchFailures.first else { return }
    throw StoreError(
      .contentUnavailable,
      """
      \(fetchFailures.count) records could not be read when they were needed, so properties gave \
      their defaults. Look at fetchFailures, then acknowledgeFetchFailures() or discardChanges().
      """,
      at: first.error.place, underlying: first.error)
  }

  private func encodeChanges() throws(StoreError) -> ChangeSetEncoder {
    guard !isEncoding else {
      throw StoreError(.notEncodable, "writeContent(to:) must not save.")
    }
    isEncoding = true
    changedWhileEncoding = false
    defer { isEncoding = false }
    var encoder = ChangeSetEncoder(store: self)
    for entry in classes { try encoder.encode(entry) }
    encoder.encode(names: pendingNames)
    guard !changedWhileEncoding else {
      throw StoreError(
        .notEncodable, "writeContent(to:) must not insert, delete or change any object.")
    }
    return encoder
  }

  /// What was pending is saved, and no longer held.
  private func acceptChanges() {
    foreign.forgetReliance()
    let forgetsWritten = foreign.hasWritten
    for entry in classes {
      for object in entry.takePending() {
        if forgetsWritten {
          foreign.forgetWritten(ObjectKey(classID: entry.classID, rowID: object.rowID))
        }
        if object.state.contains(.deleted) {
          release(object, entry)
          object.state.insert(.departed)
        }
        object.state.subtract([.inserted, .updated, .deleted, .pending, .editable])
      }
    }
    separateDeleted()
    relationships?.losses.removeAll()
    history?.didSave(pendingNames)
    pendingNames = [:]
  }
}
