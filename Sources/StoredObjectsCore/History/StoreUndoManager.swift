import StoreEngine

/// Takes back changes to a store, and does them again.
///
///     store.undoManager = StoreUndoManager()
///
///     store.undoManager?.group("Rename") { song.title = "Sunny" }
///     try store.undoManager?.undo()   // the old title is back
///     try store.undoManager?.redo()
///
/// It takes down what objects were like before they changed: properties, lists and their order,
/// inserted and deleted objects, whatever delete rules did, and named buffers. Undoing restores all
/// of it, and is a change like any other, to be saved: what was saved before is undone by the next
/// save. Objects that come back have the row IDs that they had, and are the same instances if the
/// application still holds them.
///
/// The changes of a ``group(_:_:)`` are one step. Changes outside of any group are a step, too,
/// which ends with the next group, save, undo or redo.
///
/// The history knows what goes through its store. What other stores save it does not take back:
/// where an object is not as a step has left it, undoing the step throws `conflict`.
/// ``Store/discardChanges()`` takes the history back to what it was at the last save.
///
/// It costs one encoding of each object that a step touches. Where steps touch an object again and
/// again, only the bytes that differ are kept. A store without an undo manager pays nothing.
public final class StoreUndoManager {
  /// The store whose changes it takes down.
  public internal(set) weak var store: Store?

  /// How many steps are kept; 0 for any number.
  ///
  /// The oldest go first.
  public var levelsOfUndo: Int {
    didSet { trim() }
  }

  /// The named buffer that keeps the history from run to run.
  let bufferName: String?

  /// Steps to undo and redo, the next one last.
  private(set) var undoSteps: [UndoStep] = []
  var redoSteps: [UndoStep] = []
  /// The serial number of the first step to undo.
  private(set) var firstSerial = 0
  /// The step that changes go into now.
  private(set) var current = UndoStep()
  private var groupDepth = 0
  /// The last step that holds the whole content of an object, by its serial number.
  private var wholeImages: [ObjectKey: Int] = [:]
  /// What to go back to when the store goes back to what is saved.
  var saved = Saved()
  /// Objects that have left the store, as long as they live.
  private var departed: [ObjectKey: Departed] = [:]
  /// Objects that other stores have changed, and the first step after that.
  var foreignChanges: [ObjectKey: Int] = [:]
  /// Whether another store has saved anything since there was a step.
  var othersHaveSaved = false
  /// Whether a step is being taken back, while a delegate may change objects, too.
  private var isGoingBack = false
  /// How often the history has become another one.
  private(set) var generation = 0
  /// The same for named buffers.
  var foreignNames: [ExactName: Int] = [:]
  /// Whether the named buffer is out of date.
  var hasNews = false

  /// Contents of at least so many bytes are kept as differences once another step follows.
  ///
  /// A difference is checked against the object when it is applied, and what comes from another run
  /// is always checked.
  private var shrinkingSize: Int { bufferName == nil ? 256 : 0 }

  struct Saved {
    var undo: [UndoStep] = []
    var redo: [UndoStep] = []
    /// Changes by other stores, each with the number of the first step after it.
    var foreignChanges: [ObjectKey: Int] = [:]
    var foreignNames: [ExactName: Int] = [:]
    var isEmpty: Bool { undo.isEmpty && redo.isEmpty }
  }

  private struct Departed {
    weak var object: StoredObject?
  }

  /// Makes an empty history.
  ///
  /// - Parameter levelsOfUndo: How many steps are kept; 0 for any number.
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
  /// Makes one step of all changes in the closure, with a name for menus.
  ///
  /// Groups inside of it belong to it, and so does what the closure does before it throws.
  ///
  /// - Throws: what the closure throws.
  public func group<Result>(
    _ name: String = "", _ changes: () throws -> Result
  ) rethrows -> Result {
    beginUndoGrouping(name)
    defer { endUndoGrouping() }
    return try changes()
  }

  /// Begins a step, or a part of the one that is open.
  public func beginUndoGrouping(_ name: String = "") {
    if groupDepth == 0 { closeStep() }
    groupDepth += 1
    if current.name.isEmpty { current.name = name }
  }

  /// Ends what the last ``beginUndoGrouping(_:)`` began.
  ///
  /// - Precondition: there is one.
  public func endUndoGrouping() {
    precondition(groupDepth > 0, "endUndoGrouping() without beginUndoGrouping()")
    groupDepth -= 1
    if groupDepth == 0 { closeStep() }
  }

  /// Names the step that changes go into now.
  public func setActionName(_ name: String) { current.name = name }

  /// Whether there is a step to undo.
  public var canUndo: Bool { !undoSteps.isEmpty || !current.isEmpty }
  /// Whether there is a step to redo.
  public var canRedo: Bool { !redoSteps.isEmpty && current.isEmpty }
  /// The name of the step that ``undo()`` takes back; nil when there is none.
  public var undoActionName: String? { undoActionNames.first }
  /// The name of the step that ``redo()`` does again; nil when there is none.
  public var redoActionName: String? { canRedo ? redoSteps.last?.name : nil }
  /// The names of all steps to undo, the next one first.
  public var undoActionNames: [String] {
    (current.isEmpty ? [] : [current.name]) + undoSteps.reversed().map(\.name)
  }

  /// Forgets all steps.
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
  /// Takes back the last step; does nothing when there is none.
  ///
  /// The objects of the step are as they were before it. Nothing is saved.
  ///
  /// Complexity: linear in the content of the objects that the step touched.
  ///
  /// - Precondition: no group and no transaction is open.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `conflict` (an object is not as the step left it),
  ///   or what reading an object throws. Nothing has changed then but what the delegate has changed
  ///   itself.
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

  /// Does again what the last ``undo()`` has taken back; does nothing when there is nothing, or
  /// when something has changed since, here or by the save of another store.
  ///
  /// Complexity: linear in the content of the objects that the step touched.
  ///
  /// - Precondition: no group and no transaction is open.
  ///
  /// - Throws: ``/StoreEngine/StoreError``, as ``undo()``.
  public func redo() throws(StoreError) {
    precondition(groupDepth == 0, "redo() inside of a group")
    precondition(store?.transactions.isEmpty != false, "redo() inside of a transaction")
    if isGoingBack { return }
    closeStep()
    store?.collectChangesElsewhere()
    guard let store, let step = redoSteps.last else { return }
    let reverse = try goBack(step, store)
    // It knows what others have saved until now; steps before it don't.
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
      // The delegate has changed something, which can't be done again over that.
      if !current.isEmpty { (redoSteps, hasNews) = ([], true) }
      throw error
    }
  }

  /// Hands over what has changed since the last step, as a part of another one.
  func takeCurrent() -> UndoStep {
    defer { current = UndoStep() }
    return current
  }
}

// MARK: - Recording

extension StoreUndoManager {
  /// Whether the step in work knows what the object was like before.
  func knows(_ key: ObjectKey) -> Bool { current.knows(key) }

  /// Takes down what an object is like before it changes.
  func note(_ key: ObjectKey, _ image: ObjectImage) {
    beginStepIfNeeded()
    current.note(key, image)
    // The step that has changed the object last left it like this.
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

  /// Whether other runs, which this one can't know, may change what the history speaks of.
  var isSaved: Bool { bufferName != nil }

  /// Whether there may be references that no step has made.
  var mayOthersHaveSaved: Bool { othersHaveSaved || isSaved }

  /// Takes down a named buffer before it changes.
  func note(_ name: ExactName, _ bytes: [UInt8]?) {
    beginStepIfNeeded()
    if current.names[name] == nil { current.names[name] = .some(bytes) }
  }

  private func beginStepIfNeeded() {
    guard current.isEmpty, !isGoingBack else { return }
    redoSteps.removeAll()
    hasNews = true
  }

  /// Puts the step in work, if it has anything, on the others.
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

  /// An object leaves the store; it may be asked for again.
  func noteDeparture(of object: StoredObject, _ key: ObjectKey) {
    departed[key] = Departed(object: object)
  }

  /// The instance that a row had, if it lives and is in no store.
  func departedObject(_ key: ObjectKey) -> StoredObject? {
    guard let object = departed.removeValue(forKey: key)?.object, object.registration == nil else {
      return nil
    }
    return object
  }

  // MARK: Transactions

  /// How far the history has come.
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

  /// What has changed since has been taken back, and is no part of any step.
  func rewind(to position: Position) {
    // A step that has ended meanwhile takes back nothing then.
    guard position.generation == generation, position.stepCount == undoSteps.count else { return }
    for key in current.keys where !position.current.knows(key) { wholeImages[key] = nil }
    (current, redoSteps) = (position.current, position.redoSteps)
  }

  // MARK: Saving and going back

  /// A save is about to write; a step that no group holds open ends here.
  func willSave() {
    if groupDepth == 0 { closeStep() }
  }

  /// Everything is saved; with it, perhaps, the history itself.
  func didSave(_ names: [ExactName: [UInt8]?]) {
    let first = firstSerial
    saved = Saved(
      undo: undoSteps + (current.isEmpty ? [] : [current]), redo: redoSteps,
      foreignChanges: foreignChanges.mapValues { $0 - first },
      foreignNames: foreignNames.mapValues { $0 - first })
    if let bufferName, names[ExactName(bufferName)] != nil { hasNews = false }
  }

  /// The store is as it was at the last save, and so is the history.
  func didDiscard() {
    store?.reopenObjects(of: current)
    (undoSteps, redoSteps) = (saved.undo, saved.redo)
    (foreignChanges, foreignNames) = (saved.foreignChanges, saved.foreignNames)
    (current, wholeImages, firstSerial) = (UndoStep(name: current.name), [:], 0)
    generation += 1
    hasNews = true
  }

  /// Takes over what an earlier run has saved.
  func resume(undo: [UndoStep], redo: [UndoStep]) {
    (undoSteps, redoSteps, saved) = (undo, redo, Saved(undo: undo, redo: redo))
  }

  /// Lets every step that can do so keep differences only.
  ///
  /// A difference is checked against the object when it is applied; a whole content is not.
  func shrink(_ image: (ObjectKey) -> ObjectImage?) {
    for (key, serial) in wholeImages {
      let index = serial - firstSerial
      guard undoSteps.indices.contains(index), let next = image(key) else { continue }
      undoSteps[index].shrink(key, against: next)
    }
    wholeImages = [:]
  }
}
