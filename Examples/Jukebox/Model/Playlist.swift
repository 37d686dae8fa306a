import StoredObjects

/// Songs in an order, each as often as one likes.
final class Playlist: StoredObject {
  /// The ID by which a person names the playlist, unique in the store.
  @Content var number: Int64 = 0
  /// How another import finds the playlist again.
  @Content var origin = Origin.created
  @Content var name: String?
  @Content var attributes = Attributes()
  /// The songs in their order.
  ///
  /// Changed only by the methods below, which keep ``Song/playlists`` the other side of it.
  @Content private(set) var songs: [Song] = []

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(number)
    buffer.write(origin)
    buffer.write(name)
    buffer.write(attributes)
    buffer.write(songs)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readInt64()
    origin = try buffer.read()
    name = try buffer.read()
    attributes = try buffer.read()
    songs = try buffer.readObjects(of: Song.self)
  }

  override func prepareForDelete() {
    for song in Set(songs) { song.didLeave(self) }
  }

  override func dissolveAllRelationships() { songs = [] }
}

extension Playlist {
  /// Adds a song at the end.
  func append(_ song: Song) {
    songs.append(song)
    song.didJoin(self)
  }

  /// Takes out the song at an index, and gives it back.
  @discardableResult
  func remove(at index: Int) -> Song {
    let song = songs.remove(at: index)
    if !songs.contains(song) { song.didLeave(self) }
    return song
  }

  /// Moves a song, so that it is at the other index afterwards.
  func move(from index: Int, to newIndex: Int) {
    guard index != newIndex else { return }
    songs.insert(songs.remove(at: index), at: newIndex)
  }

  /// Takes out every occurrence of a song.
  func removeAll(_ song: Song) {
    songs.removeAll { $0 == song }
    song.didLeave(self)
  }

  /// Replaces the whole list; says whether it was another one.
  @discardableResult
  func setSongs(_ newSongs: [Song]) -> Bool {
    guard newSongs != songs else { return false }
    let old = Set(songs)
    let new = Set(newSongs)
    songs = newSongs
    for song in old.subtracting(new) { song.didLeave(self) }
    // In the order of the list, so that the same import writes the same bytes.
    for song in newSongs where !old.contains(song) { song.didJoin(self) }
    return true
  }
}
