import Logging
import StoreEngine

extension Store {
  /// Runs a closure and saves its changes, or rolls everything back if it throws.
  ///
  ///     try store.transaction {
  ///       account.balance -= 30
  ///       guard account.balance >= 0 else { throw Overdrawn() }
  ///       other.balance += 30
  ///     }
  ///
  /// After an error the store is as it was before the call: objects, lists and their order, inserts
  /// and deletes, the effects of delete rules, and named buffers. The error can come from the
  /// closure or from the save.
  ///
  /// A transaction inside of another one is a savepoint. If it throws, only its own changes are
  /// rolled back. It saves nothing: the outermost transaction saves. ``saveChanges()`` inside of a
  /// transaction throws `nestedWrite`.
  ///
  /// Changes that are unsaved when the outermost transaction begins are saved with it. If it
  /// throws, they stay as they were, unsaved.
  ///
  /// Objects whose insertion is rolled back keep their properties, and are in no store. The undo
  /// manager forgets changes that are rolled back.
  ///
  /// Complexity: the cost of the changes and the save. An object with unsaved changes is encoded
  /// once more for each transaction that changes it.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of times that the closure runs. After a `conflict` with
  ///     another store, the changes are rolled back, the store merges what others have saved, and
  ///     the closure runs again. A transaction inside of another one, and one that begins with
  ///     unsaved changes, runs once.
  ///   - body: Changes objects of the store.
  /// - Returns: The result of the closure.
  /// - Throws: Any error that the closure throws, or that ``saveChanges()`` throws.
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

  /// Runs a closure, and rolls back its changes if it throws; saves nothing.
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
    let canDiscard = canDiscard
    beginSavepoint()
    do {
      let result = try body()
      if let failure = transactions.failure { throw failure }
      try saveTransaction()
      endSavepoint()
      return result
    } catch {
      undoTransaction(canDiscard)
      throw error
    }
  }

  /// Runs a closure and saves its changes like ``transaction(attempts:_:)``, outside of any other
  /// transaction, and holds no thread while the backend commits.
  func transaction(
    attempts: Int = 1, awaiting backend: any CommitAwaiting,
    isolation: isolated (any Actor)? = #isolation, _ body: () throws -> Void
  ) async throws {
    var attemptsLeft = hasUnsavedChanges ? 1 : attempts
    while true {
      attemptsLeft -= 1
      do {
        return try await attempt(awaiting: backend, body)
      } catch let error as StoreError where error.code == .conflict && attemptsLeft > 0 {
        mergeChanges()
      }
    }
  }

  private func attempt(
    awaiting backend: any CommitAwaiting, isolation: isolated (any Actor)? = #isolation,
    _ body: () throws -> Void
  ) async throws {
    let canDiscard = canDiscard
    beginSavepoint()
    do {
      try body()
      if let failure = transactions.failure { throw failure }
      transactions.isSaving = true
      defer { transactions.isSaving = false }
      try await saveChanges(awaiting: backend)
    } catch {
      undoTransaction(canDiscard)
      throw error
    }
    endSavepoint()
  }

  /// Whether a transaction that begins now can be undone by discarding all changes.
  ///
  /// Discarding would also reset the undo history to the last save.
  private var canDiscard: Bool { !hasUnsavedChanges && history == nil }

  private func undoTransaction(_ canDiscard: Bool) {
    // If there were no other unsaved changes, discarding needs no savepoint.
    if canDiscard || transactions.failure != nil { discardTransaction() } else { rollBack() }
    if transactions.failure != nil { discardChanges() }
    transactions.failure = nil
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

  /// Throws `nestedWrite` for a save inside of a transaction.
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
  /// Starts to keep the state of objects before they change.
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

  /// Makes objects that have reported a change report the next one, too.
  private func reopenTouchedObjects() {
    for key in transactions.takeTouched() {
      registration(classID: key.classID)?.living(key.rowID)?.state.remove(.editable)
    }
  }

  /// Keeps the changes, as changes of the enclosing transaction.
  func endSavepoint() {
    settleRelationships()
    let inner = transactions.savepoints.removeLast()
    if transactions.isEmpty {
      _ = transactions.takeTouched()
    } else {
      transactions.savepoints[transactions.savepoints.count - 1].append(inner)
    }
  }

  /// Keeps the state of an object before it changes; a new object has just been inserted.
  func noteForSavepoint(_ object: StoredObject, _ entry: RegisteredClass, isNew: Bool) {
    let key = ObjectKey(classID: entry.classID, rowID: object.rowID)
    // Until the next savepoint begins, the object reports no further change.
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
      // The outermost transaction will discard everything.
      transactions.failure = error
      return .changed(changes, nil)
    }
  }

  /// Resets the savepoints, because everything is as saved and nothing is left to roll back.
  func forgetSavepoints() {
    for index in transactions.savepoints.indices {
      transactions.savepoints[index] = Savepoint(of: self)
    }
  }

  /// Restores the state from the start of the innermost transaction.
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

  /// Restores which objects exist, before their contents, which refer to others by row.
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
      // A class can read what it has written, unless its methods do not match.
      transactions.failure = error
      logger.error("A change can't be taken back: \(error)")
    }
    object.state.remove(.editable)
  }
}
