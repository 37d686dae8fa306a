import ArgumentParser
import StoredObjects

/// The options for the store of a command.
struct StoreOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The directory of the store.", valueName: "dir"))
  var store: String

  @Option(
    help: ArgumentHelp(
      "The backend of a new store; tokyo-cabinet by default.",
      valueName: "backend"))
  var backend: BackendChoice?

  /// Opens the store for reading, and closes it after the closure.
  ///
  /// The closure returns plain values, so that a command prints them after the store is closed. A
  /// slow reader of the output then blocks no other process.
  func read<Result>(_ body: (Library) throws -> Result) throws -> Result {
    try open(.reading, body)
  }

  /// Opens the store, and saves the changes of the closure in one save.
  ///
  /// After an error nothing is saved. "jukebox undo" prints the name of the action.
  func edit<Result>(
    _ action: String, _ access: BackendChoice.Access = .changing, _ body: (Library) throws -> Result
  ) throws -> Result {
    try open(access) { library in
      let result = try library.history().group(action) { try body(library) }
      try library.store.saveChanges()
      return result
    }
  }

  /// Opens the store, undoes or redoes an earlier command, and saves.
  func step<Result>(_ body: (StoreUndoManager) throws -> Result) throws -> Result {
    try open(.changing) { library in
      let result = try body(library.history())
      try library.store.saveChanges()
      return result
    }
  }

  /// Opens the store for several tasks; the caller closes it.
  func container(_ access: BackendChoice.Access) throws -> StoreContainer {
    let directory = StoreDirectory(path: store)
    do {
      try directory.checkBeforeOpening(for: access)
      return try StoreContainer(
        backend: kept().open(store, for: access), classes: Library.classes)
    } catch {
      directory.removeIfMadeInVain()
      throw explained(error)
    }
  }

  private func open<Result>(
    _ access: BackendChoice.Access, _ body: (Library) throws -> Result
  ) throws -> Result {
    let directory = StoreDirectory(path: store)
    var isDone = false
    do {
      try directory.checkBeforeOpening(for: access)
      let backend = try kept().open(store, for: access)
      let library = try Library(backend: backend)
      defer { library.dissolve() }
      try directory.check(library, for: access)
      let result = try body(library)
      isDone = true
      if let failure = library.store.fetchFailures.first { throw failure.error }
      try backend.close()
      return result
    } catch {
      if !isDone { directory.removeIfMadeInVain() }
      throw explained(error)
    }
  }

  /// Returns the backend of the options, or that of the existing store.
  private func kept() throws -> BackendChoice {
    let found = BackendChoice.found(in: store)
    if let backend, let found, backend != found {
      throw Failure(
        "The store in \(quoted(store)) uses \(found.rawValue). Remove the option --backend.")
    }
    return backend ?? found ?? .tokyoCabinet
  }

  private func explained(_ error: any Error) -> any Error {
    guard let error = error as? StoreError else { return error }
    guard error.code == .inUse else {
      return Failure("The store in \(quoted(store)) can't be used: \(error)")
    }
    return Failure(
      """
      The store in \(quoted(store)) is in use by another process. \
      Try again when it has finished.
      """)
  }
}
