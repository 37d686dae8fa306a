import ArgumentParser
import StoreAddresses
import StoredObjects

/// The options for the store of a command.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The directory of the store, or postgresql://HOST/DATABASE#STORE.", valueName: "store"))
  var store: String

  @Option(
    help: ArgumentHelp(
      "The backend of a new store in a directory; tokyo-cabinet by default.",
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
    _ action: String, _ access: StoreAccess = .changing, _ body: (Library) throws -> Result
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
  func container(_ access: StoreAccess) throws -> StoreContainer {
    let place = try place()
    do {
      try place.checkBeforeOpening(for: access)
      return try StoreContainer(backend: place.open(for: access), classes: Library.classes)
    } catch {
      place.removeIfMadeInVain()
      throw explained(error, place)
    }
  }

  /// The number of attempts if other machines save at the same time.
  private static let attempts = 50

  private func open<Result>(
    _ access: StoreAccess, _ body: (Library) throws -> Result
  ) throws -> Result {
    let place = try place()
    do {
      var attemptsLeft = Self.attempts
      while true {
        do {
          return try open(place, access, body)
        } catch let error as StoreError where error.code == .conflict && attemptsLeft > 1 {
          // Nothing was saved. A store in a directory is locked, so this one is on a server.
          attemptsLeft -= 1
        }
      }
    } catch { throw explained(error, place) }
  }

  private func open<Result>(
    _ place: any StorePlace, _ access: StoreAccess, _ body: (Library) throws -> Result
  ) throws -> Result {
    var isDone = false
    do {
      try place.checkBeforeOpening(for: access)
      let backend = try place.open(for: access)
      let library = try Library(backend: backend)
      defer { library.dissolve() }
      try place.check(library, for: access)
      let result = try body(library)
      isDone = true
      if let failure = library.store.fetchFailures.first { throw failure.error }
      try backend.close()
      return result
    } catch {
      if !isDone { place.removeIfMadeInVain() }
      throw error
    }
  }

  private func place() throws -> any StorePlace {
    guard let address = try ServerAddress(store) else {
      return StoreDirectory(path: store, backend: backend)
    }
    if backend != nil {
      throw Failure("--backend is for stores in directories. Remove it, or name a directory.")
    }
    return ServerStore(address: address)
  }

  private func explained(_ error: any Error, _ place: any StorePlace) -> any Error {
    guard let error = error as? StoreError else { return error }
    guard error.code == .inUse || error.code == .conflict else {
      return Failure("\(place.store) can't be used: \(error)")
    }
    return Failure(
      "\(place.store) is in use by another process. Try again when it has finished.")
  }
}
