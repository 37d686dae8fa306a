import Logging
import StoreEngine

extension Store {
  /// The undo manager that records and undoes changes; nil, the default, for none.
  ///
  /// See ``StoreUndoManager``.
  public var undoManager: StoreUndoManager? {
    get { history }
    set {
      guard newValue !== history else { return }
      history?.store = nil
      newValue?.store = self
      history = newValue
      externals?.forgetImages()
      // Objects that have changed already must report their next change again.
      for entry in classes {
        for object in entry.pending { object.state.remove(.editable) }
      }
    }
  }

  /// Records the state of an object before it changes.
  func noteImage(of object: StoredObject, _ entry: RegisteredClass) {
    if isRestoring { return }
    if configuration.conflictPolicy == .merge { noteBase(of: object, entry) }
    if !transactions.isEmpty { noteForSavepoint(object, entry, isNew: false) }
    guard let history else { return }
    let key = ObjectKey(classID: entry.classID, rowID: object.rowID)
    guard !history.knows(key) else { return }
    do {
      history.note(key, try image(of: object, entry))
    } catch {
      logger.error("The undo history was cleared, because an object can't be encoded: \(error)")
      history.removeAllActions()
    }
  }

  /// Records that a row did not exist before.
  func noteAbsence(of object: StoredObject, _ entry: RegisteredClass) {
    if isRestoring { return }
    if !transactions.isEmpty {
      noteForSavepoint(object, entry, isNew: !object.state.contains(.deleted))
    }
    guard let history else { return }
    history.note(ObjectKey(classID: entry.classID, rowID: object.rowID), .absent)
  }

  /// Ends a step for its objects: their next change belongs to another step.
  func reopenObjects(of step: UndoStep) {
    for key in step.keys {
      registration(classID: key.classID)?.living(key.rowID)?.state.remove(.editable)
    }
  }
}

// MARK: - Restoring

/// An object of a step, with its current and its target state.
private struct Restoration {
  let key: ObjectKey
  let entry: RegisteredClass
  /// The object; nil while it is absent.
  var object: StoredObject?
  var current: ObjectImage
  let target: ObjectImage

  /// Whether the object is restored.
  var isInsertion: Bool { !current.isPresent && target.isPresent }

  /// Whether the content of the object changes.
  var isUpdate: Bool {
    guard case .content(let new) = target, case .content(let old) = current else { return false }
    return !old.matches(new)
  }
}

extension Store {
  /// Restores everything that a step has changed.
  ///
  /// The delegate is called as for other edits. Changes that it makes belong to the step.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - mayOthersHaveSaved: Whether objects may refer to what it deletes by changes that the undo
  ///     history does not have.
  /// - Returns: The step that reverses this.
  /// - Throws: ``/StoreEngine/StoreError``. Nothing has changed then.
  func apply(
    _ step: UndoStep, mayOthersHaveSaved: Bool = false
  ) throws(StoreError) -> UndoStep {
    var restorations = try plan(step)
    try checkBuffers(of: step)
    try announce(&restorations)
    var reverse = UndoStep(name: step.name)
    for restoration in restorations {
      let (current, target) = (restoration.current, restoration.target)
      let image = current.shrunk(against: target)
      reverse.note(
        restoration.key, history?.isSaved == true ? image.marked(with: target) : image)
    }
    for (name, bytes) in step.names {
      let current = try sealedBuffer(named: name.text)
      reverse.names[name] = .some(current)
      reverse.namesAfter[name] = .some(bytes.map(ContentMark.checksum))
    }
    try restoreAll(&restorations, step)
    if mayOthersHaveSaved || history?.mayOthersHaveSaved == true {
      removeForeignReferences(to: restorations)
    }
    var whole = history?.takeCurrent() ?? UndoStep()
    whole.append(reverse)
    for case let restoration in restorations where restoration.isInsertion {
      guard let object = restoration.object else { continue }
      tell(object) { $0.store(self, willInsert: object) }
    }
    settleRelationships()
    if let late = history?.takeCurrent() { whole.append(late) }
    whole.name = step.name
    return whole
  }

  /// Removes references that the saves of others have added.
  ///
  /// The other steps of this history remove the references that they know.
  private func removeForeignReferences(to restorations: [Restoration]) {
    guard let relationships else { return }
    for case let restoration in restorations
    where restoration.current.isPresent && !restoration.target.isPresent {
      guard let object = restoration.object else { continue }
      relationships.didTakeBackInsertion(of: object, restoration.entry, self)
    }
  }

  private func checkBuffers(of step: UndoStep) throws(StoreError) {
    for (name, after) in step.namesAfter {
      let current = try sealedBuffer(named: name.text).map(ContentMark.checksum)
      if after != current { throw StoreUndoManager.changedBuffer(name) }
    }
  }

  private func restoreAll(
    _ restorations: inout [Restoration], _ step: UndoStep
  ) throws(StoreError) {
    isRestoring = true
    defer { isRestoring = false }
    relationships?.didRestore()
    noteChange()
    try restore(&restorations)
    for (name, bytes) in step.names { pendingNames.set(name, to: bytes) }
  }

  /// Notifies the delegate of the objects about to change; it may change them itself.
  private func announce(_ restorations: inout [Restoration]) throws(StoreError) {
    guard delegate != nil else { return }
    let generation = history?.generation
    for restoration in restorations {
      guard let object = restoration.object else { continue }
      if !restoration.target.isPresent {
        tell(object) { $0.store(self, willDelete: object) }
      } else if restoration.isUpdate, object.state.isDisjoint(with: [.inserted, .updated]) {
        tell(object) { $0.store(self, willUpdate: object) }
      }
    }
    guard generation == history?.generation else {
      throw StoreError(
        .conflict,
        """
        The delegate has discarded changes or cleared the undo history during an undo, so the step \
        was not taken back.
        """, at: .init(path: backend.location))
    }
    settleRelationships()
    for index in restorations.indices { try refresh(&restorations[index]) }
  }

  /// Reads the current state of an object again.
  private func refresh(_ restoration: inout Restoration) throws(StoreError) {
    let entry = restoration.entry
    restoration.object = try object(entry, rowID: restoration.key.rowID)
    restoration.current =
      if let object = restoration.object { try image(of: object, entry) } else { .absent }
  }

  /// Records the checksum of a named buffer after a step, if the buffer can be read.
  func noteBuffer(_ name: ExactName, after step: inout UndoStep) {
    do {
      step.namesAfter[name] = .some(
        try sealedBuffer(named: name.text).map(ContentMark.checksum))
    } catch {
      logger.error("A named buffer could not be read after a change: \(error)")
    }
  }

  private func plan(_ step: UndoStep) throws(StoreError) -> [Restoration] {
    var restorations: [Restoration] = []
    restorations.reserveCapacity(step.keys.count)
    for key in step.keys {
      guard let image = step.images[key] else { continue }
      guard let entry = registration(classID: key.classID) else {
        throw StoreError(.notRegistered, "A step of the history changed class \(key.classID).")
      }
      let object = try object(entry, rowID: key.rowID)
      let current = if let object { try self.image(of: object, entry) } else { ObjectImage.absent }
      let target = try image.whole(of: current, at: entry.location(key.rowID))
      if case .unreadable = target, entry.living(key.rowID) == nil {
        throw StoreError(
          .recordMissing, "The object was deleted without being read, and its record is gone.",
          at: entry.location(key.rowID))
      }
      restorations.append(
        Restoration(key: key, entry: entry, object: object, current: current, target: target))
    }
    return restorations
  }

  /// Restores presence first, then contents: contents refer to other objects by their rows.
  private func restore(_ restorations: inout [Restoration]) throws(StoreError) {
    for index in restorations.indices { restorePresence(&restorations[index]) }
    do {
      for restoration in restorations { try restoreContent(restoration, restoration.target) }
    } catch {
      for index in restorations.indices {
        undoPresence(&restorations[index])
        try? restoreContent(restorations[index], restorations[index].current)
      }
      throw error
    }
  }

  private func restorePresence(_ restoration: inout Restoration) {
    let entry = restoration.entry
    switch (restoration.object, restoration.target.isPresent) {
    case (nil, true): restoration.object = revive(restoration.key, entry)
    case (let object?, false):
      entry.mark(object) { $0.insert(.deleted) }
      deletions.note(object)
    default: break
    }
  }

  private func undoPresence(_ restoration: inout Restoration) {
    guard let object = restoration.object else { return }
    let wasPresent = restoration.current.isPresent
    restoration.entry.mark(object) {
      if wasPresent { $0.remove(.deleted) } else { $0.insert(.deleted) }
    }
  }

  /// Returns the object of a deleted row, the same instance if it still exists.
  private func revive(_ key: ObjectKey, _ entry: RegisteredClass) -> StoredObject {
    if let object = entry.living(key.rowID) {
      entry.mark(object) { $0.remove(.deleted) }
      return object
    }
    foreign.restore(key)
    let object: StoredObject
    if let departed = history?.departedObject(key), type(of: departed) == entry.type {
      entry.adopt(departed, key.rowID)
      object = departed
    } else {
      object = entry.makeFault(key.rowID)
    }
    entry.mark(object) { $0.formUnion([.inserted, .hasContent]) }
    return object
  }

  private func restoreContent(
    _ restoration: Restoration, _ target: ObjectImage
  ) throws(StoreError) {
    guard case .content(let content) = target, let object = restoration.object else { return }
    let entry = restoration.entry
    if object.hasContent, try contentImage(of: object, entry).matches(content) {
      relyOn(object)
      return
    }
    try setContent(of: object, entry, to: content)
    if !object.state.contains(.inserted) { entry.mark(object) { $0.insert(.updated) } }
    object.state.remove(.editable)
    object.noteObservedChange()
  }
}
