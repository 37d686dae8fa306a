import StoredObjects

/// A track of the library.
///
/// A field is nil where the file that the song came from does not have it.
final class Song: StoredObject {
  /// The ID by which a person names the song, unique in the store.
  @Content var number: Int64 = 0
  /// Whether the number is the Track ID of a library file.
  ///
  /// Otherwise the song comes from an M3U playlist, is recognised by its location, and has a number
  /// that was given out here.
  @Content var isFromLibrary = false
  @Content var title: String?
  @Content var artist: String?
  @Content var album: String?
  @Content var milliseconds: Int64?
  /// A URL, or whatever stood in its place.
  @Content var location: String?
  @Content var attributes = Attributes()
  /// The playlists that hold the song, each once.
  @Content private(set) var playlists: [Playlist] = []

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(number)
    buffer.write(isFromLibrary)
    buffer.write(title)
    buffer.write(artist)
    buffer.write(album)
    buffer.write(milliseconds)
    buffer.write(location)
    buffer.write(attributes)
    buffer.write(playlists)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readInt64()
    isFromLibrary = try buffer.readBool()
    title = try buffer.read()
    artist = try buffer.read()
    album = try buffer.read()
    milliseconds = try buffer.read()
    location = try buffer.read()
    attributes = try buffer.read()
    playlists = try buffer.readObjects(of: Playlist.self)
  }

  /// A deleted song leaves every playlist, from every position.
  override func prepareForDelete() {
    for playlist in playlists { playlist.removeAll(self) }
  }

  override func dissolveAllRelationships() { playlists = [] }
}

extension Song {
  /// Whole seconds, as iTunes shows them; 0 when the length is not known.
  var seconds: Int64 { (milliseconds ?? 0) / 1000 }

  /// Called by a playlist that has taken in the song.
  func didJoin(_ playlist: Playlist) {
    if !playlists.contains(playlist) { playlists.append(playlist) }
  }

  /// Called by a playlist that no longer holds the song.
  func didLeave(_ playlist: Playlist) {
    if playlists.contains(playlist) { playlists.removeAll { $0 == playlist } }
  }
}
