import StoredObjects

/// The place of a command's store: a directory or a server.
protocol StorePlace {
  /// The name of the place for messages, as in "a library in …".
  var name: String { get }

  /// The store at the place, as the subject of a message.
  var store: String { get }

  /// Throws if the place has no store that a command could open with an access.
  func checkBeforeOpening(for access: StoreAccess) throws

  /// Opens the store; creates it only for ``StoreAccess/making(songCount:)``.
  func open(for access: StoreAccess) throws -> any StoreBackend

  /// Removes what the command has created, if nothing was saved.
  func removeIfMadeInVain()
}

/// The access to a store that a command needs.
enum StoreAccess: Equatable {
  /// Reading only, which several processes can do at once.
  case reading
  /// Reading and writing.
  case changing
  /// Reading and writing; a missing store is created for about so many songs.
  case making(songCount: Int)

  /// Whether a missing store is created.
  var mayMake: Bool {
    if case .making = self { true } else { false }
  }
}

extension StorePlace {
  /// Checks that an opened store has a music library.
  func check(_ library: Library, for access: StoreAccess) throws {
    guard !access.mayMake, try library.isBlank else { return }
    throw noLibrary
  }

  var noLibrary: Failure { notThere("There is no music library in \(name).") }

  func notThere(_ message: String) -> Failure {
    Failure("\(message) Create one with \"jukebox import FILE --store STORE\".")
  }
}

extension Library {
  /// Whether nothing has been saved yet, not even an empty library.
  fileprivate var isBlank: Bool {
    get throws {
      try store.bufferNames().isEmpty && store.count(of: Song.self) == 0
        && store.count(of: Playlist.self) == 0
    }
  }
}
