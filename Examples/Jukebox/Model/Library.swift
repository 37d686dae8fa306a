import StoredObjects

/// The store of a music library: its songs, its playlists, and the order of the playlists.
///
/// The order is a named buffer. It holds references to the playlists, so it is saved together with
/// them, and a playlist that is renamed keeps its place.
struct Library {
  private static let orderName = "Library"
  private static let historyName = "Undo"

  let store: Store

  init(backend: any StoreBackend) throws {
    store = Store(backend: backend)
    try store.register(Self.classes)
  }

  /// The library in a store that knows its classes.
  init(store: Store) { self.store = store }

  static let classes: [StoredObject.Type] = [Song.self, Playlist.self]

  /// All songs, in the order in which they came in.
  func songs() throws -> [Song] { try store.allObjects(of: Song.self) }

  /// All playlists with their content, in the order of the library.
  func playlists() throws -> [Playlist] {
    // One pass over the file; the order then finds every playlist in memory.
    let loaded = try store.allObjects(of: Playlist.self)
    let ordered = try contents().playlists
    let known = Set(ordered)
    return ordered + loaded.filter { !known.contains($0) }
  }

  /// What the library file says of itself.
  func attributes() throws -> Attributes { try contents().attributes }

  /// Sets the order of the playlists, and what an export says of the library.
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

  /// What earlier commands have done, so that it can be taken back; from now on every change is
  /// taken down.
  ///
  /// It is a named buffer, too, and saved together with what it can take back.
  func history() throws -> StoreUndoManager {
    let history = try StoreUndoManager(savedIn: store, as: Self.historyName, levelsOfUndo: 20)
    store.undoManager = history
    return history
  }

  /// Lets go of all objects: songs and playlists hold one another, and would for ever.
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
  /// The songs of a playlist, each with its content.
  ///
  /// Fetched here, where an error can be thrown; a getter could only give a default.
  func songs(of playlist: Playlist) throws -> [Song] {
    try playlist.fetchContent()
    for song in playlist.songs { try song.fetchContent() }
    return playlist.songs
  }
}
