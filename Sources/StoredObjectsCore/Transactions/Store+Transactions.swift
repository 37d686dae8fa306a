import Logging
import StoreEngine

extension Store {
  /// Runs a closure and saves what it changes, or takes everything back if it throws.
  ///
  ///     try store.transaction {
  ///       account.balance -= 30
  ///       guard account.balance >= 0 else { throw Overdrawn() }
  ///       other.balance += 30
  ///     }
  ///
  /// After an error the store is as it was before the call: objects, their lists and order, inserts
  /// and deletes, what delete rules did, and named buffers. The error may come from the closure or
  /// from the save.
  ///
  /// A transaction inside of another one is a savepoint. It takes back only its own changes when it
  /// throws, and saves nothing: the outermost transaction saves. ``saveChanges()`` inside of a
  /// transaction throws `nestedWrite`.
  ///
  /// Changes that are unsaved when the outermost transaction begins are saved with it. If it throws,
  /// they stay as they were, unsaved.
  ///
  /// Objects that were inserted and taken back keep their properties, and are in no store. The undo
  /// manager forgets what is taken back.
  ///
  /// Complexity: what the changes and the save cost. An object that has unsaved changes is encoded
  /// once more for each transaction that changes it.
  ///
  /// - Parameters:
  ///   - attempts: How often the closure runs at most. After a `conflict` with another store, the
  ///     changes are taken back, the store merges what others have saved, and the closure runs again.
  ///     A transaction inside of another one, and one that begins with unsaved changes, runs once.
  ///   - body: Changes objects of the store.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws, or what ``saveChanges()`` throws.
  @discardableResult
  public func transaction<Result>(
    attempts: Int = 1, _ body: () throws -> Result
  ) throws -> Result {
    guard transactions.isEmpty else { return try savepoint(body) }
    var attemptsLeft = hasUnsavedChanges ? 1 : attempts
    while true {
      attemptsLeft -= 1
      do {
        return try attempt(body)
      } catch let error as StoreError where error.code == .conflict && attemptsLeft > 0 {
        mergeChanges()
      }
    }
  }

  /// Runs a closure, and takes back what it has changed if it throws; saves nothing.
  func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    beginSavepoint()
    do {
      let result = try body()
      endSavepoint()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  private func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    // The history, too, would go back to the last save.
    let canDiscard = !hasUnsavedChanges && history == nil
    beginSavepoint()
    do {
      let result = try body()
      if let failure = transactions.failure { throw failure }
      try saveTransaction()
      endSavepoint()
      return result
    } catch {
      // Where nothing else is unsaved, this needs nothing that was taken down.
      if canDiscard || transactions.failure != nil { discardTransaction() } else { rollBack() }
      if transactions.failure != nil { discardChanges() }
      transactions.failure = nil
      throw error
    }
  }

  private func saveTransaction() throws(StoreError) {
    transactions.isSaving = true
    defer { transactions.isSaving = false }
    try saveChanges()
  }

  private func discardTransaction() {
    let savepoint = transactions.savepoints.removeLast()
    transactions.failure = nil
    discardChanges()
    if let position = savepoint.history { history?.rewind(to: position) }
  }

  /// Refuses to save in the middle of a transaction.
  func checkForTransaction() throws(StoreError) {
    if transactions.isEmpty || transactions.isSaving { return }
    throw StoreError(
      .nestedWrite,
      "A transaction saves when its outermost closure returns: remove the save inside of it.",
      at: .init(path: backend.location))
  }
}

// MARK: - Savepoints

extension Store {
  /// Begins to take down what objects are like before they change.
  func beginSavepoint() {
    settleRelationships()
    if transactions.isEmpty {
      for entry in classes {
        for object in entry.pending { object.state.remove(.editable) }
      }
    } else {
      reopenTouchedObjects()
    }
    transactions.savepoints.append(Savepoint(of: self))
  }

  /// Has objects that have told of a change tell of the next one, too.
  private func reopenTouchedObjects() {
    for key in transactions.takeTouched() {
      registration(classID: key.classID)?.living(key.rowID)?.state.remove(.editable)
    }
  }

  /// Keeps what has changed, as changes of the transaction around this one.
  func endSavepoint() {
    settleRelationships()
    let inner = transactions.savepoints.removeLast()
    if transactions.isEmpty {
      _ = transactions.takeTouched()
    } else {
      transactions.savepoints[transactions.savepoints.count - 1].append(inner)
    }
  }

  /// Takes down what an object is like before it changes; one that is new has just been inserted.
  func noteForSavepoint(_ object: StoredObject, _ entry: RegisteredClass, isNew: Bool) {
    let key = ObjectKey(classID: entry.classID, rowID: object.rowID)
    // It tells of no further change until the next savepoint begins, known or not.
    transactions.touched.append(key)
    guard transactions.savepoints.last?.knows(key) == false else { return }
    transactions.note(key, isNew ? .absent : before(object, entry))
  }

  private func before(_ object: StoredObject, _ entry: RegisteredClass) -> Savepoint.Before {
    let changes = object.state.intersection(.changes)
    if changes.isEmpty { return .saved }
    do throws(StoreError) {
      return .changed(changes, object.hasContent ? try contentImage(of: object, entry) : nil)
    } catch {
      // The outermost transaction will take everything back.
      transactions.failure = error
      return .changed(changes, nil)
    }
  }

  /// Everything is as it is saved: there is nothing left to take back.
  func forgetSavepoints() {
    for index in transactions.savepoints.indices {
      transactions.savepoints[index] = Savepoint(of: self)
    }
  }

  /// Makes everything what it was when the innermost transaction began.
  func rollBack() {
    settleRelationships()
    let savepoint = transactions.savepoints.removeLast()
    _ = transactions.takeTouched()
    restore(savepoint)
    pendingNames = savepoint.names
    fetchFailures = savepoint.fetchFailures
    if let position = savepoint.history { history?.rewind(to: position) }
    collectExternals()
    tellDidChange()
  }

  private func restore(_ savepoint: Savepoint) {
    isRestoring = true
    defer { isRestoring = false }
    relationships?.didRestore()
    noteChange()
    for key in savepoint.keys.reversed() { restorePresence(key, savepoint) }
    for entry in classes { entry.removeSettledFromPending() }
    for key in savepoint.keys { restoreContent(key, savepoint) }
  }

  /// First which objects there are: contents refer to others by their rows.
  private func restorePresence(_ key: ObjectKey, _ savepoint: Savepoint) {
    guard let entry = registration(classID: key.classID), let object = entry.living(key.rowID),
      let before = savepoint.objects[key]
    else { return }
    switch before {
    case .absent:
      entry.mark(object) { $0.subtract(.changes) }
      release(object, entry)
      object.state = [.hasContent, .detached]
    case .saved:
      entry.mark(object) { $0.subtract(.changes) }
      object.state.formIntersection(.special)
    case .changed(let changes, _):
      entry.mark(object) { $0 = $0.subtracting(.changes).union(changes) }
      object.state.remove(.editable)
    }
    object.noteObservedChange()
  }

  private func restoreContent(_ key: ObjectKey, _ savepoint: Savepoint) {
    guard case .changed(_, let content?) = savepoint.objects[key],
      let entry = registration(classID: key.classID), let object = entry.living(key.rowID)
    else { return }
    do throws(StoreError) {
      try setContent(of: object, entry, to: content)
    } catch {
      // What a class has written it can read, unless its methods do not agree.
      transactions.failure = error
      logger.error("A change can't be taken back: \(error)")
    }
    object.state.remove(.editable)
  }
}
