import StoredObjects

#if Macros
  /// An ordered list of songs, with repeats.
  @Stored final class Playlist: StoredObject {
    /// The ID of the playlist on the command line, unique in the store.
    var number: Int64 = 0
    /// The origin, by which another import finds the playlist again.
    var origin: Origin = Origin.created
    var name: String?
    var attributes: Attributes = Attributes()
    /// The songs in order.
    ///
    /// A deleted song is removed from every position in every playlist.
    @Relationship(inverse: \Song.playlists) var songs: [Song] = []
  }
#endif

extension Playlist {
  /// Adds a song at the end.
  func append(_ song: Song) { songs.append(song) }

  /// Removes and returns the song at an index.
  @discardableResult
  func remove(at index: Int) -> Song { songs.remove(at: index) }

  /// Moves a song to another index.
  func move(from index: Int, to newIndex: Int) {
    guard index != newIndex else { return }
    songs.insert(songs.remove(at: index), at: newIndex)
  }

  /// Replaces the list, and returns whether it has changed.
  @discardableResult
  func setSongs(_ newSongs: [Song]) -> Bool {
    guard newSongs != songs else { return false }
    songs = newSongs
    return true
  }
}
