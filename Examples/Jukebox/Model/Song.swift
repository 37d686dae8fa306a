import StoredObjects

#if Macros
  /// A track of the library.
  ///
  /// A field is nil where the file that the song came from does not have it.
  ///
  /// `jukebox search` looks through what is `@FullText`, where a match in the title counts most,
  /// and `jukebox songs` finds songs quickly by what is `@Indexed`.
  @Stored final class Song: StoredObject {
    /// The ID by which a person names the song, unique in the store.
    @Indexed var number: Int64 = 0
    /// Whether the number is the Track ID of a library file.
    ///
    /// Otherwise the song comes from an M3U playlist, is recognised by its location, and has a
    /// number that was given out here.
    var isFromLibrary: Bool = false
    @Indexed @FullText(weight: 2) var title: String?
    @Indexed @FullText var artist: String?
    @Indexed @FullText var album: String?
    @Indexed var milliseconds: Int64?
    /// A URL, or whatever stood in its place.
    var location: String?
    var attributes: Attributes = Attributes()
    /// The playlists that hold the song: the other side of ``Playlist/songs``.
    var playlists: Set<Playlist> = []
  }
#endif

extension Song {
  /// Whole seconds, as iTunes shows them; 0 when the length is not known.
  var seconds: Int64 { (milliseconds ?? 0) / 1000 }
}
