import StoreEngine

/// A manager that undoes and redoes changes to a store.
///
///     store.undoManager = StoreUndoManager()
///
///     store.undoManager?.group("Rename") { song.title = "Sunny" }
///     try store.undoManager?.undo()   // the old title is back
///     try store.undoManager?.redo()
///
/// The manager records the state of objects before they change: properties, lists and their order,
/// insertions and deletions, the effects of delete rules, and named buffers. An undo restores all
/// of it. It is a change like any other, which you save: if the original change was saved, the next
/// save undoes it on disk. Restored objects have their old row IDs, and are the same instances if
/// your application still holds them.
///
/// The changes of a ``group(_:_:)`` are one step. Changes outside of any group also form a step,
/// which ends with the next group, save, undo or redo.
///
/// The history contains the changes of its own store only, and does not undo saves of other stores.
/// If an object is not as a step left it, undoing that step throws `conflict`.
/// ``Store/discardChanges()`` restores the history of the last save.
///
/// The cost is one encoding of each object that a step changes. If steps change an object
/// repeatedly, only the bytes that differ are kept. A store without an undo manager has no cost.
public final class StoreUndoManager {
  /// The store whose changes the manager records.
  public internal(set) weak var store: Store?

  /// The number of steps to keep, the newest ones; 0 for any number.
  public var levelsOfUndo: Int {
    didSet { trim() }
  }

  /// The named buffer that keeps the history between runs.
  let bufferName: String?

  /// The steps to undo and redo, the next one last.
  private(set) var undoSteps: [UndoStep] = []
  var redoSteps: [UndoStep] = []
  /// The serial number of the first step to undo.
  private(set) var firstSerial = 0
  /// The step that collects changes now.
  private(set) var current = UndoStep()
  private var groupDepth = 0
  /// The serial number of the last step with the whole content of an object.
  private var wholeImages: [ObjectKey: Int] = [:]
  /// The history as of the last save, to restore when changes are discarded.
  var saved = Saved()
  /// Objects that have left the store, as long as they are alive.
  private var departed: [ObjectKey: Departed] = [:]
  /// The objects that other stores have changed, and the first step after the change.
  var foreignChanges: [ObjectKey: Int] = [:]
  /// Whether another store has saved since the history had a step.
  var othersHaveSaved = false
  /// Whether a step is being undone or redone, while a delegate may change objects.
  private var isGoingBack = false
  /// A number that changes whenever the history is replaced.
  private(set) var generation = 0
  /// The named buffers that other stores have changed, and the first step after the change.
  var foreignNames: [ExactName: Int] = [:]
  /// Whether the named buffer is out of date.
  var hasNews = false

  /// The content size from which steps keep only differences once another step follows.
  ///
  /// A difference is verified when it is applied, which a history from another run always needs.
  private var shrinkingSize: Int { bufferName == nil ? 256 : 0 }

  struct Saved {
    var undo: [UndoStep] = []
    var redo: [UndoStep] = []
    /// The changes by other stores, with the number of the first step after each.
    var foreignChanges: [ObjectKey: Int] = [:]
    var foreignNames: [ExactName: Int] = [:]
    var isEmpty: Bool { undo.isEmpty && redo.isEmpty }
  }

  private struct Departed {
    weak var object: StoredObject?
  }

  /// Creates an empty history.
  ///
  /// - Parameter levelsOfUndo: The number of steps to keep; 0 for any number.
  public convenience init(levelsOfUndo: Int = 100) {
    self.init(levelsOfUndo: levelsOfUndo, bufferName: nil)
  }

  init(levelsOfUndo: Int, bufferName: String?) {
    self.levelsOfUndo = levelsOfUndo
    self.bufferName = bufferName
  }
}

@available(*, unavailable) extension StoreUndoManager: Sendable {}

// MARK: - Groups

extension StoreUndoManager {
  /// Groups all changes in the closure into one step, with a name for menus.
  ///
  /// Nested groups belong to the same step, and so do the changes of a closure that throws.
  ///
  /// Complexity: that of the closure and of ``endUndoGrouping()``.
  ///
  /// - Throws: The errors of the closure.
  public func group<Result>(
    _ name: String = "", _ changes: () throws -> Result
  ) rethrows -> Result {
    beginUndoGrouping(name)
    defer { endUndoGrouping() }
    return try changes()
  }

  /// Begins a step, or a nested group of the open step.
  ///
  /// Complexity: as ``endUndoGrouping()``, if a step has collected changes outside of groups.
  public func beginUndoGrouping(_ name: String = "") {
    if groupDepth == 0 { closeStep() }
    groupDepth += 1
    if current.name.isEmpty { current.name = name }
  }

  /// Ends the group that the last ``beginUndoGrouping(_:)`` began.
  ///
  /// Complexity: linear in the number of changed objects and the size of changed named buffers.
  ///
  /// - Precondition: A group is open.
  public func endUndoGrouping() {
    precondition(groupDepth > 0, "endUndoGrouping() without beginUndoGrouping()")
    groupDepth -= 1
    if groupDepth == 0 { closeStep() }
  }

  /// Names the step that collects changes now.
  public func setActionName(_ name: String) { current.name = name }

  /// Whether there is a step to undo.
  public var canUndo: Bool { !undoSteps.isEmpty || !current.isEmpty }
  /// Whether there is a step to redo.
  public var canRedo: Bool { !redoSteps.isEmpty && current.isEmpty }
  /// The name of the step that ``undo()`` undoes; nil if there is none.
  public var undoActionName: String? { undoActionNames.first }
  /// The name of the step that ``redo()`` redoes; nil if there is none.
  public var redoActionName: String? { canRedo ? redoSteps.last?.name : nil }
  /// The names of all steps to undo, the next one first.
  public var undoActionNames: [String] {
    (current.isEmpty ? [] : [current.name]) + undoSteps.reversed().map(\.name)
  }

  /// Removes all steps.
  ///
  /// Complexity: linear in the number of actions.
  public func removeAllActions() {
    store?.reopenObjects(of: current)
    (undoSteps, redoSteps, current) = ([], [], UndoStep(name: current.name))
    (wholeImages, departed, firstSerial) = ([:], [:], 0)
    (foreignChanges, foreignNames) = ([:], [:])
    generation += 1
    hasNews = true
    store?.externals?.forgetImages()
  }
}

// MARK: - Undo and redo

extension StoreUndoManager {
  /// Undoes the last step; does nothing if there is none.
  ///
  /// The objects of the step are as they were before it. Nothing is saved.
  ///
  /// Complexity: Linear in the size of the content of the changed objects.
  ///
  /// - Precondition: No group and no transaction is open.
  /// - Throws: ``/StoreEngine/StoreError`` with `conflict` (an object is not as the step left it),
  ///   and the errors of reading an object. Nothing has changed then, except by the delegate.
  public func undo() throws(StoreError) {
    precondition(groupDepth == 0, "undo() inside of a group")
    precondition(store?.transactions.isEmpty != false, "undo() inside of a transaction")
    if isGoingBack { return }
    closeStep()
    store?.collectChangesElsewhere()
    guard let store, let step = undoSteps.last else { return }
    try checkForForeignChanges(to: step)
    redoSteps.append(try goBack(step, store))
    undoSteps.removeLast()
    for key in step.keys { wholeImages[key] = nil }
    hasNews = true
    store.updateLiveQueries()
    store.tell { $0.storeDidChange(store) }
  }

  /// Redoes the step that the last ``undo()`` has undone.
  ///
  /// It does nothing if there is no such step, or if something has changed since, in this store or
  /// by the save of another store.
  ///
  /// Complexity: Linear in the size of the content of the changed objects.
  ///
  /// - Precondition: No group and no transaction is open.
  /// - Throws: The errors of ``undo()``.
  public func redo() throws(StoreError) {
    precondition(groupDepth == 0, "redo() inside of a group")
    precondition(store?.transactions.isEmpty != false, "redo() inside of a transaction")
    if isGoingBack { return }
    closeStep()
    store?.collectChangesElsewhere()
    guard let store, let step = redoSteps.last else { return }
    let reverse = try goBack(step, store)
    // The redone step includes the saves of other stores so far; the steps before it don't.
    let serial = firstSerial + undoSteps.count
    for key in reverse.keys {
      if let first = foreignChanges[key] { foreignChanges[key] = min(first, serial) }
    }
    undoSteps.append(reverse)
    redoSteps.removeLast()
    hasNews = true
    store.updateLiveQueries()
    store.tell { $0.storeDidChange(store) }
  }

  private func goBack(_ step: UndoStep, _ store: Store) throws(StoreError) -> UndoStep {
    isGoingBack = true
    defer { isGoingBack = false }
    do {
      return try store.apply(step)
    } catch {
      // A step can't be redone over the changes of the delegate.
      if !current.isEmpty { (redoSteps, hasNews) = ([], true) }
      throw error
    }
  }

  /// Appends a step that something else than a change of this store's objects has made.
  ///
  /// - Precondition: No group is open, see ``checkCanAdd()``.
  func add(_ step: UndoStep) {
    redoSteps.removeAll()
    undoSteps.append(step)
    hasNews = true
    trim()
  }

  func checkCanAdd() { precondition(groupDepth == 0, "undo(commit:) inside of a group") }

  /// Returns the changes since the last step, to become part of another.
  func takeCurrent() -> UndoStep {
    defer { current = UndoStep() }
    return current
  }
}

// MARK: - Recording

extension StoreUndoManager {
  /// Returns whether the current step has the previous state of the object.
  func knows(_ key: ObjectKey) -> Bool { current.knows(key) }

  /// Records the state of an object before it changes.
  func note(_ key: ObjectKey, _ image: ObjectImage) {
    beginStepIfNeeded()
    current.note(key, image)
    // The last step that changed the object has left it in this state.
    if let serial = wholeImages.removeValue(forKey: key),
      undoSteps.indices.contains(serial - firstSerial)
    {
      undoSteps[serial - firstSerial].shrink(key, against: image)
    }
    switch image {
    case .content(let content) where content.bytes.count >= shrinkingSize: break
    case .absent where isSaved: break
    default: return
    }
    wholeImages[key] = firstSerial + undoSteps.count
  }

  /// Whether other runs of the program may change objects of the history.
  var isSaved: Bool { bufferName != nil }

  /// Whether there may be references that no step has made.
  var mayOthersHaveSaved: Bool { othersHaveSaved || isSaved }

  /// Records a named buffer before it changes.
  func note(_ name: ExactName, _ bytes: [UInt8]?) {
    beginStepIfNeeded()
    if current.names[name] == nil { current.names[name] = .some(bytes) }
  }

  private func beginStepIfNeeded() {
    guard current.isEmpty, !isGoingBack else { return }
    redoSteps.removeAll()
    hasNews = true
  }

  /// Ends the current step, if it has changes.
  func closeStep() {
    store?.settleRelationships()
    if isGoingBack { return }
    guard !current.isEmpty else { return current.name = "" }
    store?.reopenObjects(of: current)
    for name in current.names.keys {
      store?.noteBuffer(name, after: &current)
    }
    undoSteps.append(current)
    current = UndoStep()
    trim()
  }

  private func trim() {
    guard levelsOfUndo > 0 else { return }
    while undoSteps.count > levelsOfUndo {
      for key in undoSteps.removeFirst().keys {
        if wholeImages[key] == firstSerial { wholeImages[key] = nil }
        departed[key] = nil
      }
      firstSerial += 1
    }
  }

  /// Records an object that leaves the store, and may be restored.
  func noteDeparture(of object: StoredObject, _ key: ObjectKey) {
    departed[key] = Departed(object: object)
  }

  /// Returns the former instance of a row, if it is alive and in no store.
  func departedObject(_ key: ObjectKey) -> StoredObject? {
    guard let object = departed.removeValue(forKey: key)?.object, object.registration == nil else {
      return nil
    }
    return object
  }

  // MARK: Transactions

  /// A position in the history.
  struct Position {
    fileprivate let generation: Int
    fileprivate let stepCount: Int
    fileprivate let current: UndoStep
    fileprivate let redoSteps: [UndoStep]
  }

  var position: Position {
    Position(
      generation: generation, stepCount: undoSteps.count, current: current, redoSteps: redoSteps)
  }

  /// Rewinds the history to a position, after the changes since then were rolled back.
  func rewind(to position: Position) {
    // If a step has ended in between, its changes are already rolled back.
    guard position.generation == generation, position.stepCount == undoSteps.count else { return }
    for key in current.keys where !position.current.knows(key) { wholeImages[key] = nil }
    (current, redoSteps) = (position.current, position.redoSteps)
  }

  // MARK: Saving and discarding

  /// Ends the current step before a save, unless a group is open.
  func willSave() {
    if groupDepth == 0 { closeStep() }
  }

  /// Records the history as saved; its named buffer may have been saved as well.
  func didSave(_ names: PendingNames) {
    let first = firstSerial
    saved = Saved(
      undo: undoSteps + (current.isEmpty ? [] : [current]), redo: redoSteps,
      foreignChanges: foreignChanges.mapValues { $0 - first },
      foreignNames: foreignNames.mapValues { $0 - first })
    if let bufferName, names.contains(ExactName(bufferName)) { hasNews = false }
  }

  /// Restores the history of the last save, after the store has discarded changes.
  func didDiscard() {
    store?.reopenObjects(of: current)
    (undoSteps, redoSteps) = (saved.undo, saved.redo)
    (foreignChanges, foreignNames) = (saved.foreignChanges, saved.foreignNames)
    (current, wholeImages, firstSerial) = (UndoStep(name: current.name), [:], 0)
    generation += 1
    hasNews = true
  }

  /// Sets the history that an earlier run has saved.
  func resume(undo: [UndoStep], redo: [UndoStep]) {
    (undoSteps, redoSteps, saved) = (undo, redo, Saved(undo: undo, redo: redo))
  }

  /// Reduces all steps to differences where possible.
  ///
  /// A difference is verified against the object when it is applied; a whole content is not.
  func shrink(_ image: (ObjectKey) -> ObjectImage?) {
    for (key, serial) in wholeImages {
      let index = serial - firstSerial
      guard undoSteps.indices.contains(index), let next = image(key) else { continue }
      undoSteps[index].shrink(key, against: next)
    }
    wholeImages = [:]
  }
}
