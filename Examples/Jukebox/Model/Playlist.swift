import StoredObjects

#if Macros
  /// Songs in an order, each as often as one likes.
  @Stored final class Playlist: StoredObject {
    /// The ID by which a person names the playlist, unique in the store.
    var number: Int64 = 0
    /// How another import finds the playlist again.
    var origin: Origin = Origin.created
    var name: String?
    var attributes: Attributes = Attributes()
    /// The songs in their order.
    ///
    /// A deleted song leaves every playlist, from every position.
    @Relationship(inverse: \Song.playlists) var songs: [Song] = []
  }
#endif

extension Playlist {
  /// Adds a song at the end.
  func append(_ song: Song) { songs.append(song) }

  /// Takes out the song at an index, and gives it back.
  @discardableResult
  func remove(at index: Int) -> Song { songs.remove(at: index) }

  /// Moves a song, so that it is at the other index afterwards.
  func move(from index: Int, to newIndex: Int) {
    guard index != newIndex else { return }
    songs.insert(songs.remove(at: index), at: newIndex)
  }

  /// Replaces the whole list; says whether it was another one.
  @discardableResult
  func setSongs(_ newSongs: [Song]) -> Bool {
    guard newSongs != songs else { return false }
    songs = newSongs
    return true
  }
}
