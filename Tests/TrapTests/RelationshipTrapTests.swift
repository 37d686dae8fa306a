import StoredObjectsCore
import Testing

private final class Song: StoredObject {
  @Content var title = ""
  @Content var playlists: [Playlist] = []
  private(set) var first: Playlist?
  var last: Playlist? { playlists.last }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }
}

private class Playlist: StoredObject {
  @Content var songs: [Song] = []
}

private final class Album: StoredObject {
  @Content var songs: ObjectList<Song> = []
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(songs) }
  override func readContent(from buffer: inout DataBuffer) throws {
    songs = try buffer.readList(of: Song.self)
  }
}

/// Names an inverse of another type.
private final class TextInverse: Playlist {
  override class var relationships: [Relationship] {
    [Relationship(\TextInverse.songs, inverse: \Song.title)]
  }
}

/// Names an inverse that can't be set.
private final class ComputedInverse: Playlist {
  override class var relationships: [Relationship] {
    [Relationship(\ComputedInverse.songs, inverse: \Song.last)]
  }
}

/// Names an inverse that refers to objects of another class.
private final class ForeignInverse: Playlist {
  override class var relationships: [Relationship] {
    [Relationship(\ForeignInverse.songs, inverse: \Song.playlists)]
  }
}

private func makeStore() throws -> Store {
  let store = Store(backend: try MemoryBackend())
  try store.register(Song.self, Playlist.self)
  return store
}

/// An album of two songs as another store reads it; the songs have no record that can be read.
private func savedAlbum() throws -> (store: Store, album: Album) {
  let backend = try MemoryBackend()
  let (writer, reader) = (Store(backend: backend), Store(backend: backend))
  try writer.register(Song.self, Album.self)
  let album = Album()
  album.songs = [Song(), Song()]
  for song in album.songs { writer.insert(song) }
  writer.insert(album)
  try writer.saveChanges()
  try reader.register(Song.self, Album.self)
  guard let read = try reader.object(Album.self, rowID: album.rowID) else { throw Missing() }
  return (reader, read)
}

private struct Missing: Error {}

@Suite("Errors with relationships, uniqueness and undo that end the program, as documented")
struct RelationshipTrapTests {
  /// Expects that a program ended with this message, where messages are compiled in.
  private func expect(
    _ message: String, in result: ExitTest.Result?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let result = try #require(result, sourceLocation: sourceLocation)
    #if DEBUG
      let text = String(decoding: result.standardErrorContent, as: UTF8.self)
      #expect(text.contains(message), "\(text)", sourceLocation: sourceLocation)
    #endif
  }

  @Test("Naming an inverse that is not a reference")
  func textInverse() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Store(backend: try MemoryBackend()).register(Song.self, TextInverse.self)
    }
    try expect("The inverse of TextInverse's relationship to Song is not a property", in: result)
  }

  @Test("Naming an inverse that can't be set")
  func computedInverse() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Store(backend: try MemoryBackend()).register(Song.self, ComputedInverse.self)
    }
    try expect(
      "The inverse of ComputedInverse's relationship to Song is not a property", in: result)
  }

  @Test("Naming an inverse that refers to another class")
  func foreignInverse() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Store(backend: try MemoryBackend()).register(Song.self, ForeignInverse.self)
    }
    try expect("of type ForeignInverse?, [ForeignInverse]", in: result)
  }

  @Test("Fetching an object by a property that is not unique")
  func notUnique() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try makeStore().object(Song.self, where: \.title, is: "a")
    }
    try expect("is not unique: see AttributeIndex.", in: result)
  }

  @Test("Undoing inside of a group")
  func undoInGroup() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = try makeStore()
      let history = StoreUndoManager()
      store.undoManager = history
      try history.group { try history.undo() }
    }
    try expect("undo() inside of a group", in: result)
  }

  @Test("Redoing inside of a group")
  func redoInGroup() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let history = StoreUndoManager()
      history.beginUndoGrouping()
      try history.redo()
    }
    try expect("redo() inside of a group", in: result)
  }

  @Test("Ending a group that was not begun")
  func endWithoutBegin() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let history = StoreUndoManager()
      history.group {}
      history.endUndoGrouping()
    }
    try expect("endUndoGrouping() without beginUndoGrouping()", in: result)
  }

  @Test("Moving an element of a list to a position outside of it", arguments: [(0, 2), (2, 0)])
  func moveOutside(from: Int, to: Int) async throws {
    await #expect(processExitsWith: .failure) { [from, to] in
      var list: ObjectList = [Song(), Song()]
      list.move(from: from, to: to)
    }
    // One that was read is packed.
    await #expect(processExitsWith: .failure) { [from, to] in
      let (store, album) = try savedAlbum()
      album.songs.move(from: from, to: to)
      try store.saveChanges()
    }
  }

  @Test("Inserting an object whose record could not be read before it was deleted")
  func insertUnread() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (reader, album) = try savedAlbum()
      let song = album.songs[0]
      reader.delete(song)
      try reader.saveChanges()
      let store = Store(backend: try MemoryBackend())
      try store.register(Song.self)
      store.insert(song)
    }
    try expect("The object was deleted, and its content never read.", in: result)
  }
}
