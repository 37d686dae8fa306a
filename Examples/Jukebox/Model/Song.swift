import StoredObjects

#if Macros
  /// A track of the library.
  ///
  /// A field is nil if the imported file does not have it.
  ///
  /// `jukebox search` searches the properties with `@FullText`; a match in the title counts most.
  /// `jukebox songs` uses the indexes of the properties with `@Indexed`.
  @Stored final class Song: StoredObject {
    /// The ID of the song on the command line, unique in the store.
    @Indexed var number: Int64 = 0
    /// Whether the number is the Track ID of a library file.
    ///
    /// Otherwise the song is from an M3U playlist. It is identified by its location, and this
    /// program has chosen its number.
    var isFromLibrary: Bool = false
    @Indexed @FullText(weight: 2) var title: String?
    @Indexed @FullText var artist: String?
    @Indexed @FullText var album: String?
    @Indexed var milliseconds: Int64?
    /// The URL, or the text in its place.
    var location: String?
    var attributes: Attributes = Attributes()
    /// The playlists with the song: the inverse of ``Playlist/songs``.
    var playlists: Set<Playlist> = []
  }
#endif

extension Song {
  /// The length in whole seconds, as in iTunes; 0 if it is unknown.
  var seconds: Int64 { (milliseconds ?? 0) / 1000 }
}
