import StoreEngine

/// An actor with its own store, on its own thread.
///
///     let importer = container.makeActor()
///     try await importer.perform { store in
///       for line in lines { store.insert(Song(line)) }
///       try store.saveChanges()
///     }
///
/// Unlike the stores of ``StoreContainer/read(_:)`` and ``StoreContainer/write(_:)``, this one
/// keeps its objects and unsaved changes between calls. It is an ordinary store: you save, merge
/// and discard. With an ``Autosave`` the actor saves automatically. It can also merge what others
/// have saved at the start of each call. Calls run one after the other, each to its end.
public actor StoreActor {
  private let executor = ThreadExecutor()
  private let backend: any StoreBackend
  private let recipe: StoreRecipe
  private(set) var opened: Store?
  let autosave: Autosave?
  private let mergesAutomatically: Bool
  /// Saves changes after their delay; nil if none are waiting.
  var delayedSave: Task<Void, Never>?
  /// The backend, if its commits wait without a thread.
  let awaiting: (any CommitAwaiting)?
  /// Whether a write of a container is in progress, during which other jobs may run.
  var isWriting = false
  /// The calls that wait for the end of that write.
  var waiting: [CheckedContinuation<Void, Never>] = []

  /// The executor of the actor's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  init(
    _ backend: any StoreBackend, _ recipe: StoreRecipe, _ autosave: Autosave? = nil,
    mergesAutomatically: Bool = false
  ) {
    (self.backend, self.recipe) = (backend, recipe)
    (self.autosave, self.mergesAutomatically) = (autosave, mergesAutomatically)
    // A cast takes longer than the question.
    awaiting = backend.coordinator.isOnServer ? backend as? any CommitAwaiting : nil
  }

  /// Runs a closure with the actor's store.
  ///
  /// Complexity: that of the closure. The first call creates the store, as
  /// ``StoreContainer/makeStore()``. With ``Autosave/afterEachCall(onError:)``, each call that
  /// leaves unsaved changes saves them. An actor that merges automatically first merges, see
  /// ``Store/mergeChanges()``.
  ///
  /// - Parameter body: Uses the store, which must not leave the closure.
  /// - Returns: The result of the closure.
  /// - Throws: Any error that the closure throws, or that creating the store throws.
  public func perform<Value: Sendable>(
    _ body: @Sendable (Store) throws -> Value
  ) throws -> Value {
    let store = try store()
    defer { saveByItself(store) }
    return try body(store)
  }

  /// Runs a closure on the actor's thread.
  func run<Value: Sendable>(_ body: @Sendable () throws -> Value) rethrows -> Value { try body() }

  /// Closes the backend after the write that is in progress.
  func closeBackend() async throws(StoreError) {
    while isWriting {
      await withCheckedContinuation { waiting.append($0) }
    }
    try backend.close()
  }

  func store() throws(StoreError) -> Store {
    if let opened {
      if mergesAutomatically { opened.mergeChanges() }
      return opened
    }
    let store = try recipe.makeStore(on: backend)
    opened = store
    return store
  }
}
