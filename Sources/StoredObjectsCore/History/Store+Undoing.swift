import Logging
import StoreEngine

extension Store {
  /// Takes down what changes do, and takes it back; nil, the default, for none of that.
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
      // What has changed before has to be told again.
      for entry in classes {
        for object in entry.pending { object.state.remove(.editable) }
      }
    }
  }

  /// Takes down what an object is like before it changes.
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
      logger.error("The undo history begins anew, because an object can't be encoded: \(error)")
      history.removeAllActions()
    }
  }

  /// Takes down that a row was not there before.
  func noteAbsence(of object: StoredObject, _ entry: RegisteredClass) {
    if isRestoring { return }
    if !transactions.isEmpty {
      noteForSavepoint(object, entry, isNew: !object.state.contains(.deleted))
    }
    guard let history else { return }
    history.note(ObjectKey(classID: entry.classID, rowID: object.rowID), .absent)
  }

  /// The step is over: the next change of its objects belongs to another one.
  func reopenObjects(of step: UndoStep) {
    for key in step.keys {
      registration(classID: key.classID)?.living(key.rowID)?.state.remove(.editable)
    }
  }
}

// MARK: - Going back

/// An object of a step, as it is and as it is to be.
private struct Restoration {
  let key: ObjectKey
  let entry: RegisteredClass
  /// Nil while it is not there.
  var object: StoredObject?
  var current: ObjectImage
  let target: ObjectImage

  /// Whether it comes back.
  var isInsertion: Bool { !current.isPresent && target.isPresent }

  /// Whether its content changes.
  var isUpdate: Bool {
    guard case .content(let new) = target, case .content(let old) = current else { return false }
    return !old.matches(new)
  }
}

extension Store {
  /// Makes everything that a step has touched what it was before.
  ///
  /// The delegate is told as of edits, and what it changes belongs to the step.
  ///
  /// - Returns: the step that takes this back.
  /// - Throws: ``/StoreEngine/StoreError``; then nothing has changed.
  func apply(_ step: UndoStep) throws(StoreError) -> UndoStep {
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
    removeForeignReferences(to: restorations)
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

  /// What this history knows of takes its references back in other steps; others' saves don't.
  private func removeForeignReferences(to restorations: [Restoration]) {
    guard let relationships, history?.mayOthersHaveSaved == true else { return }
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
    for (name, bytes) in step.names { pendingNames[name] = .some(bytes) }
  }

  /// Tells the delegate of the objects that are about to change, which may change them itself.
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
        The delegate has discarded changes, or begun a new history, while it was told of an undo, so \
        the step was not taken back.
        """, at: .init(path: backend.location))
    }
    settleRelationships()
    for index in restorations.indices { try refresh(&restorations[index]) }
  }

  /// Looks again how an object is now.
  private func refresh(_ restoration: inout Restoration) throws(StoreError) {
    let entry = restoration.entry
    restoration.object = try object(entry, rowID: restoration.key.rowID)
    restoration.current =
      if let object = restoration.object { try image(of: object, entry) } else { .absent }
  }

  /// Takes down what a step has left of a named buffer, if that can be read.
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

  /// First who is there, then what they hold: contents refer to others by their rows.
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

  /// The object of a row that is deleted, or was; the same instance if it lives.
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
