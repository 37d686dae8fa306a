import StoreEngine

extension Store {
  /// Runs the steps that the store has not completed yet, and registers the classes of the program.
  ///
  ///     try store.migrate(migrations, registering: [Song.self, Artist.self])
  ///
  /// Call this method instead of `register(_:)`, with all steps that the program has ever had.
  /// Renames run first, then the classes are registered, and then the other steps run in order. A
  /// step that was interrupted continues where it stopped.
  ///
  /// No other store may be open on the backend while there are steps to run. Until a step is
  /// finished, every other use of the store throws `unfinishedMigration`. If the store has
  /// completed a step that a program doesn't know, the program can read but not save.
  ///
  /// Complexity: That of the steps. If none is left, one read of a named buffer.
  ///
  /// - Parameters:
  ///   - migrations: All steps, in order, with different names.
  ///   - types: The classes of the program. Classes that are registered already are skipped.
  ///   - progress: Called after each batch with the progress of the step.
  /// - Returns: The names of the steps that ran.
  /// - Throws: ``/StoreEngine/StoreError`` with `newerVersion` if a later program has migrated the
  ///   store; `migrationOrder` if a new step comes before a completed one; `unfinishedMigration` if
  ///   the program doesn't know the step; `inUse` if another store is open on the backend;
  ///   `invalidArgument` if two steps have the same name; `unsavedChanges`; `readOnly`; the errors
  ///   of `register(_:)`, of ``saveChanges()`` and of the steps. If a step throws, it is unfinished,
  ///   and the next call continues with it.
  @discardableResult
  public func migrate(
    _ migrations: [Migration], registering types: [StoredObject.Type],
    progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws -> [String] {
    let run = try MigrationRun(self, migrations, progress)
    return try run.run(registering: types)
  }

  /// Renames and retires classes without recording the steps, for programs without the classes.
  ///
  /// - Throws: The errors of ``migrate(_:registering:progress:)``.
  package func migrateOnce(
    _ migrations: [Migration], progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws {
    let run = try MigrationRun(self, migrations, progress, isRecorded: false)
    _ = try run.run(registering: [])
  }
}

/// A run of the steps that a store has not completed.
final class MigrationRun {
  let store: Store
  private let migrations: [Migration]
  private let isRecorded: Bool
  let progress: (MigrationProgress) -> Void
  /// The state that the store has, or will have with the next commit.
  var state: SavedMigrations
  /// Whether the state has not been saved yet.
  private var isStateNew = false
  private var taken: [String] = []

  init(
    _ store: Store, _ migrations: [Migration],
    _ progress: @escaping (MigrationProgress) -> Void, isRecorded: Bool = true
  ) throws {
    (self.store, self.migrations, self.isRecorded) = (store, migrations, isRecorded)
    self.progress = progress
    state = try store.backend.savedMigrations()
    try checkSteps()
  }

  var location: StoreError.Location { .init(path: store.backend.location) }

  // MARK: Names

  private var names: [String] { migrations.map(\.name) }

  private func checkSteps() throws {
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw StoreError(
        .invalidArgument, "Two migrations are named \"\(twice)\": give one another name.",
        at: location)
    }
    if let step = state.interrupted, !names.contains(step) {
      throw StoreError(
        .unfinishedMigration,
        "The migration \"\(step)\", which this program doesn't know, was interrupted. Finish it first.",
        at: location)
    }
    guard isRecorded else { return }
    if let strange = state.done.first(where: { !names.contains($0) }) {
      throw store.outdated(by: strange)
    }
    try checkClassOrder()
  }

  /// Checks that steps run in order, except renames, which come first.
  private func checkClassOrder() throws {
    let others = migrations.filter { !$0.action.isRename }.map(\.name)
    let done = state.done.filter(others.contains)
    guard done != Array(others.prefix(done.count)) else { return }
    throw StoreError(
      .migrationOrder,
      """
      The store has run the migrations \(done.map { "\"\($0)\"" }.joined(separator: ", ")), and \
      the program has them in another order. Put new ones after those.
      """, at: location)
  }

  private var isPending: Bool {
    state.keepsEarlierRecords || state.interrupted != nil || migrations.contains(where: isPending)
  }

  private func isPending(_ migration: Migration) -> Bool {
    !isRecorded || !state.done.contains(migration.name)
  }

  // MARK: Steps

  func run(registering types: [StoredObject.Type]) throws -> [String] {
    if isPending {
      try checkDirectories()
      store.migrationPhase = .running
      // If the program continues after an error, the saved state decides what it may do.
      defer {
        (store.migrationPhase, store.keepsEarlierRecords) = (.unknown, false)
        store.liveQueries?.reloadLater()
      }
      do {
        try takeSteps(registering: types)
      } catch {
        store.discardChanges()
        throw error
      }
    }
    if isRecorded { store.backend.coordinator.know(names) }
    try register(types)
    return taken
  }

  private func takeSteps(registering types: [StoredObject.Type]) throws {
    for migration in migrations where migration.action.isRename { try take(migration) }
    try register(types)
    store.keepsEarlierRecords = true
    for migration in migrations where !migration.action.isRename { try take(migration) }
    try forgetEarlierRecords()
  }

  /// Removes the earlier records, which no step needs any more.
  private func forgetEarlierRecords() throws {
    var changes = ChangeSet()
    if state.keepsEarlierRecords {
      for table in try store.backend.allEarlierRecords() { changes.clear(table) }
      (state.keepsEarlierRecords, isStateNew) = (false, true)
    }
    if isStateNew { try commit(changes) }
  }

  private func register(_ types: [StoredObject.Type]) throws {
    try store.register(types.filter { store.registration(of: $0) == nil })
  }

  private func checkDirectories() throws {
    if store.backend.isReadOnly {
      throw StoreError(
        .readOnly, "The store has to be migrated first: open it for writing.", at: location)
    }
    guard store.backend.coordinator.hasOneStore else {
      throw StoreError(
        .inUse, "Another store is open on the backend: migrate before opening it.", at: location)
    }
    guard !store.hasUnsavedChanges else {
      throw StoreError(
        .unsavedChanges, "Save or discard changes before migrating.", at: location)
    }
  }

  private func take(_ migration: Migration) throws {
    guard isPending(migration) else { return }
    let name = migration.name
    if let current = state.current, current.name != name, !migration.action.isRename {
      throw StoreError(
        .migrationOrder,
        """
        The migration "\(current.name)" was interrupted and comes before "\(name)". Put the steps \
        back into their earlier order.
        """, at: location)
    }
    switch migration.action {
    case .rename(let oldName, let newName): try rename(oldName, to: newName, in: name)
    case .retire(let className): try retire(className, in: name)
    case .objects(let body): try takeStep(name, body)
    }
    taken.append(name)
  }

  private func takeStep(
    _ name: String, _ body: (MigrationContext) throws -> Void
  ) throws {
    let isResumed = state.current != nil
    if !isResumed { state.current = .init(name: name) }
    let context = MigrationContext(self)
    try body(context)
    finish(name)
    if isResumed || context.hasSaved || store.hasUnsavedChanges { try save() }
  }

  /// Marks a step as done; this takes effect when the state is saved.
  func finish(_ name: String) {
    if state.current?.name == name { state.current = nil }
    if state.renaming == name { state.renaming = nil }
    if isRecorded {
      state.done = names.filter { $0 == name || state.done.contains($0) }
    }
    isStateNew = true
  }

  /// Saves the changes of the store and the state in one commit.
  func save() throws {
    state.keepsEarlierRecords = true
    store.pendingNames.set(ExactName(SavedMigrations.bufferName), to: state.sealed)
    store.migrationPhase = .settled
    defer { store.migrationPhase = .running }
    try store.saveChanges()
    isStateNew = false
  }

  /// Commits changes that no object has made, together with the state.
  func commit(_ changes: ChangeSet) throws {
    var changes = changes
    changes.setBuffer(named: SavedMigrations.bufferName, state.sealed)
    var request = CommitRequest(author: store.configuration.author)
    request.sender = store.inbox
    let backend = store.backend
    if let commit = try backend.coordinator.whileCommitting({ () throws(StoreError) in
      try backend.commit(changes, request)
    }) {
      store.lastCommit = commit
    }
    isStateNew = false
  }
}

extension ChangeSet {
  /// Writes or removes a named buffer, and keeps the names in order.
  mutating func setBuffer(named name: String, _ sealed: [UInt8]?) {
    let start = bytes.count
    if let sealed { bytes += sealed }
    let range = sealed.map { _ in start..<bytes.count }
    names.removeAll { ExactName($0.name) == ExactName(name) }
    names.append(.init(name: name, range: range))
    let order = ExactName.indicesInOrder(names.count) { names[$0].name }
    names = order.map { names[$0] }
  }
}
