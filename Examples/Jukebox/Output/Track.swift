/// A song in a list, as values that need no store.
///
/// The names of the properties are the keys of the JSON.
struct Track: Encodable {
  /// The ID; nil inside of playlists.
  var id: Int64?
  var title: String
  var artist: String
  var album: String
  var seconds: Int64

  init(_ song: Song, withID: Bool = true) {
    id = withID ? song.number : nil
    title = song.title ?? ""
    artist = song.artist ?? ""
    album = song.album ?? ""
    seconds = song.seconds
  }
}

/// A playlist in a list.
struct TrackList: Encodable {
  var id: Int64
  var name: String
  var tracks: [Track]

  /// The keys of the JSON, which has no ID.
  private enum CodingKeys: CodingKey { case name, tracks }

  init(_ playlist: Playlist) {
    id = playlist.number
    name = playlist.name ?? ""
    tracks = playlist.songs.map { Track($0, withID: false) }
  }
}
