import StoreEngine

/// What a store was like when a transaction began, as far as the transaction has changed it.
struct Savepoint {
  /// What an object was before the first change to it.
  enum Before {
    /// It was not in the store.
    case absent
    /// It was as it is saved.
    case saved
    /// It had unsaved changes: what they were, and its content, unless that could not be read.
    case changed(ObjectState, ContentImage?)
  }

  /// The objects that have changed, in the order of their first changes.
  private(set) var keys: [ObjectKey] = []
  private(set) var objects: [ObjectKey: Before] = [:]
  let names: [ExactName: [UInt8]?]
  let fetchFailures: [FetchFailure]
  /// Where the undo history was.
  let history: StoreUndoManager.Position?

  init(of store: Store) {
    (names, fetchFailures) = (store.pendingNames, store.fetchFailures)
    history = store.history?.position
  }

  func knows(_ key: ObjectKey) -> Bool { objects[key] != nil }

  mutating func note(_ key: ObjectKey, _ before: Before) {
    if objects.updateValue(before, forKey: key) == nil { keys.append(key) }
  }

  /// Takes in what a transaction inside of this one has changed.
  mutating func append(_ inner: Savepoint) {
    for key in inner.keys where !knows(key) {
      if let before = inner.objects[key] { note(key, before) }
    }
  }
}

/// The transactions of a store that are under way, the innermost last.
struct OpenTransactions {
  var savepoints: [Savepoint] = []
  /// Objects that may have told the store of a change since the last savepoint.
  var touched: [ObjectKey] = []
  /// Why changes can't be taken back; nil when they can.
  var failure: StoreError?
  /// Whether the outermost one is being saved.
  var isSaving = false

  var isEmpty: Bool { savepoints.isEmpty }

  mutating func note(_ key: ObjectKey, _ before: Savepoint.Before) {
    savepoints[savepoints.count - 1].note(key, before)
  }

  mutating func takeTouched() -> [ObjectKey] {
    defer { touched = [] }
    return touched
  }
}
