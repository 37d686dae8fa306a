import StoredObjects

/// The store of a music library: its songs, its playlists, and the order of the playlists.
///
/// The order is a named buffer with references to the playlists. It is saved together with them,
/// and a renamed playlist keeps its position.
struct Library {
  private static let orderName = "Library"
  private static let historyName = "Undo"

  let store: Store

  init(backend: any StoreBackend) throws {
    store = Store(backend: backend)
    try store.register(Self.classes)
  }

  /// Creates a library from a store in which its classes are registered.
  init(store: Store) { self.store = store }

  static let classes: [StoredObject.Type] = [Song.self, Playlist.self]

  /// Returns all songs, in the order in which they were added.
  func songs() throws -> [Song] { try store.allObjects(of: Song.self) }

  /// Returns all playlists with their content, in the order of the library.
  func playlists() throws -> [Playlist] {
    // Reads all playlists in one pass over their file, so that the order finds them in memory.
    let loaded = try store.allObjects(of: Playlist.self)
    let ordered = try contents().playlists
    let known = Set(ordered)
    return ordered + loaded.filter { !known.contains($0) }
  }

  /// Returns the top-level attributes of the library file.
  func attributes() throws -> Attributes { try contents().attributes }

  /// Sets the order of the playlists and the top-level attributes for an export.
  func setContents(_ playlists: [Playlist], _ attributes: Attributes) throws {
    if let old = try? contents(), old == (playlists, attributes) { return }
    try store.setBuffer(named: Self.orderName) { buffer in
      buffer.write(attributes)
      buffer.write(playlists)
    }
  }

  /// Adds a playlist at the end of the library.
  func append(_ playlist: Playlist) throws {
    let (playlists, attributes) = (try playlists(), try attributes())
    store.insert(playlist)
    try setContents(playlists + [playlist], attributes)
  }

  /// Returns the undo steps of earlier commands, and begins to record changes.
  ///
  /// The steps are saved in a named buffer, together with the changes that they undo.
  func history() throws -> StoreUndoManager {
    let history = try StoreUndoManager(savedIn: store, as: Self.historyName, levelsOfUndo: 20)
    store.undoManager = history
    return history
  }

  /// Releases all objects, which otherwise stay in memory because songs and playlists form cycles.
  func dissolve() {
    store.discardChanges()
    store.dissolveAllRelationships()
  }

  private func contents() throws -> (playlists: [Playlist], attributes: Attributes) {
    guard var buffer = try store.buffer(named: Self.orderName) else { return ([], Attributes()) }
    let attributes = try buffer.read(Attributes.self)
    return (try buffer.readObjects(of: Playlist.self), attributes)
  }
}

extension Library {
  /// Returns the songs of a playlist, each with its content.
  ///
  /// They are fetched here because a property getter can't throw.
  func songs(of playlist: Playlist) throws -> [Song] {
    try playlist.fetchContent()
    for song in playlist.songs { try song.fetchContent() }
    return playlist.songs
  }
}
