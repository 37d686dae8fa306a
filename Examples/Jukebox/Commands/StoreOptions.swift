import ArgumentParser
import StoredObjects

/// The options that say which store a command works on.
struct StoreOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The directory that holds the store.", valueName: "dir"))
  var store: String

  @Option(
    help: ArgumentHelp(
      "How the store is kept; without it, as it is, and a new one by tokyo-cabinet.",
      valueName: "backend"))
  var backend: BackendChoice?

  /// Opens the store for reading.
  ///
  /// The closure returns plain values, which are printed when nobody is kept from the store any
  /// more: that may take as long as a person reads.
  func read<Result>(_ body: (Library) throws -> Result) throws -> Result {
    try open(.reading, body)
  }

  /// Opens the store and saves, once, what the closure has changed.
  ///
  /// After an error nothing is saved. The action is what "jukebox undo" calls it.
  func edit<Result>(
    _ action: String, _ access: BackendChoice.Access = .changing, _ body: (Library) throws -> Result
  ) throws -> Result {
    try open(access) { library in
      let result = try library.history().group(action) { try body(library) }
      try library.store.saveChanges()
      return result
    }
  }

  /// Opens the store, takes back what an earlier command has done, or does it again, and saves.
  func step<Result>(_ body: (StoreUndoManager) throws -> Result) throws -> Result {
    try open(.changing) { library in
      let result = try body(library.history())
      try library.store.saveChanges()
      return result
    }
  }

  /// Opens the store for tasks that use it at the same time; the caller closes it.
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

  /// The backend that was asked for, or that the store has.
  private func kept() throws -> BackendChoice {
    let found = BackendChoice.found(in: store)
    if let backend, let found, backend != found {
      throw Failure(
        "The store in \(quoted(store)) is kept by \(found.rawValue): leave --backend out.")
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
      Try again when that has finished.
      """)
  }
}
