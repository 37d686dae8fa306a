import StoreEngine

/// The state of a store when a transaction began, for everything that the transaction has changed.
struct Savepoint {
  /// The state of an object before the transaction first changed it.
  enum Before {
    /// The object was not in the store.
    case absent
    /// The object was as saved.
    case saved
    /// The object had unsaved changes: their kinds, and its content, unless it could not be read.
    case changed(ObjectState, ContentImage?)
  }

  /// The changed objects, in the order of their first changes.
  private(set) var keys: [ObjectKey] = []
  private(set) var objects: [ObjectKey: Before] = [:]
  let names: PendingNames
  let fetchFailures: [FetchFailure]
  /// The position in the undo history.
  let history: StoreUndoManager.Position?

  init(of store: Store) {
    (names, fetchFailures) = (store.pendingNames, store.fetchFailures)
    history = store.history?.position
  }

  func knows(_ key: ObjectKey) -> Bool { objects[key] != nil }

  mutating func note(_ key: ObjectKey, _ before: Before) {
    if objects.updateValue(before, forKey: key) == nil { keys.append(key) }
  }

  /// Adds the changes of a transaction inside of this one.
  mutating func append(_ inner: Savepoint) {
    for key in inner.keys where !knows(key) {
      if let before = inner.objects[key] { note(key, before) }
    }
  }
}

/// The open transactions of a store, the innermost last.
struct OpenTransactions {
  var savepoints: [Savepoint] = []
  /// Objects that may have reported a change since the last savepoint.
  var touched: [ObjectKey] = []
  /// The error that prevents rolling back changes; nil if there is none.
  var failure: StoreError?
  /// Whether the outermost transaction is being saved.
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
