import StoreEngine

/// A store on its own thread that reads one snapshot after the other.
actor SnapshotReader {
  private let executor = ThreadExecutor()
  private let backend: any StoreBackend
  private let recipe: StoreRecipe
  /// The store of the last read, and the number of its commit.
  private var current: (store: Store, number: UInt64)?

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  init(_ backend: any StoreBackend, _ recipe: StoreRecipe) {
    (self.backend, self.recipe) = (backend, recipe)
  }

  func read<Value: Sendable>(_ body: @Sendable (Store) throws -> Value) throws -> Value {
    try Task.checkCancellation()
    let store = try upToDateStore()
    defer {
      store.releaseObjects()
      if backend.snapshotsHoldConnections { current = nil }
    }
    let result = Result { try body(store) }
    let (failure, isChanged) = (store.fetchFailures.first, store.hasUnsavedChanges)
    // A store that was changed, or that failed to read a record, is not used again.
    if failure != nil || isChanged { current = nil }
    let value = try result.get()
    if let failure { throw StoreError.unreadable(failure) }
    if isChanged { throw changedInRead }
    return value
  }

  private var changedInRead: StoreError {
    StoreError(
      .readOnly, "A read has changed objects: change them in a write.",
      at: .init(path: backend.location))
  }

  private func upToDateStore() throws(StoreError) -> Store {
    if let current, current.number >= backend.lastCommitNumber {
      // A closed backend has a last commit, too: finding a table throws then.
      if let first = recipe.classes.first { _ = try backend.table(named: first.storedName) }
      return current.store
    }
    current = nil
    let snapshot = try backend.snapshot()
    let store = try recipe.makeStore(on: snapshot)
    current = (store, snapshot.lastCommitNumber)
    return store
  }
}
