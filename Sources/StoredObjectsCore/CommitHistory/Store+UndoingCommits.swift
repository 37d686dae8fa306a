public import StoreEngine

extension Store {
  /// Undoes the changes that one commit made to objects and named buffers.
  ///
  /// Later commits stay as they are, so users who work on one store undo their own changes:
  ///
  ///     if let mine = try store.history(authors: ["Ann"]).last {
  ///       try store.undo(commit: mine.commit.number)
  ///       try store.saveChanges()
  ///     }
  ///
  /// Objects that the commit deleted are back with their row IDs, and objects that it inserted are
  /// deleted. Indexes follow. The undo is a change like any other, which you save, and a step of the
  /// ``undoManager``. Items of key-value stores stay as they are.
  ///
  /// Complexity: Linear in the size of the changed objects.
  ///
  /// - Parameter number: The number of the commit.
  /// - Precondition: No transaction and no undo group is open.
  /// - Throws: ``/StoreEngine/StoreError`` with `conflict` if an object or buffer has changed since
  ///   the commit, saved or unsaved; `historyExpired` if the history does not reach back to the
  ///   commit; `invalidArgument` if the commit has no entry; `notRegistered`, `damaged`, `ioError` or
  ///   `closed`. Nothing has changed then.
  public func undo(commit number: UInt64) throws(StoreError) {
    precondition(transactions.isEmpty, "undo(commit:) inside of a transaction")
    undoManager?.checkCanAdd()
    collectChangesElsewhere()
    undoManager?.closeStep()
    let step = try undoStep(of: try entry(of: number))
    let reverse = try apply(step, mayOthersHaveSaved: true)
    undoManager?.add(reverse)
    updateLiveQueries()
    tell { $0.storeDidChange(self) }
  }

  private func entry(of number: UInt64) throws(StoreError) -> HistoryEntry {
    try backend.checkHistory(reachesBackTo: max(number, 1) - 1)
    guard let entry = try backend.historyEntry(of: number) else {
      throw StoreError(
        .invalidArgument, "The history has no entry of commit \(number).",
        at: .init(path: backend.location))
    }
    return entry
  }

  /// Returns the step that leads from the state after a commit to the state before it.
  private func undoStep(of entry: HistoryEntry) throws(StoreError) -> UndoStep {
    var step = UndoStep(name: "Commit \(entry.commit.number)")
    for table in entry.tables where !table.objects.isEmpty {
      guard let known = classes.first(where: { $0.type.storedName == table.name }) else {
        throw StoreError(
          .notRegistered, "The commit changed class \(table.name). Register the class.",
          at: .init(path: backend.location, className: table.name))
      }
      for record in table.objects {
        try checkIsAsSaved(record, known)
        let key = ObjectKey(classID: known.classID, rowID: record.rowID)
        step.note(key, try image(of: record.before, record.rowID, known))
      }
    }
    for change in entry.buffers where !InternalBuffers.contain(change.name) {
      let name = ExactName(change.name)
      guard try sealedBuffer(named: change.name) == change.after else {
        throw StoreUndoManager.changedBuffer(name)
      }
      step.names[name] = .some(change.before)
    }
    return step
  }

  /// Throws if an object is not as a commit has left it.
  private func checkIsAsSaved(
    _ record: HistoryEntry.RecordChange, _ entry: RegisteredClass
  ) throws(StoreError) {
    let object = entry.living(record.rowID)
    let isUnsaved = object.map { !$0.state.isDisjoint(with: [.inserted, .updated, .deleted]) }
    var saved: [UInt8] = []
    let isThere = try backend.copyRecord(record.rowID, in: entry.table, to: &saved)
    if isUnsaved != true, (isThere ? saved : nil) == record.after { return }
    throw StoreError(
      .conflict,
      """
      The object has changed since the commit. Undo the later changes first, or set its properties \
      yourself.
      """,
      at: entry.location(record.rowID))
  }
}
