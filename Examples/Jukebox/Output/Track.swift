/// A song as it is listed: values that need no store, and the keys of the JSON.
struct Track: Encodable {
  /// Left out inside of playlists.
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

/// A playlist as it is listed.
struct TrackList: Encodable {
  var id: Int64
  var name: String
  var tracks: [Track]

  /// The JSON goes without the ID, which only the table shows.
  private enum CodingKeys: CodingKey { case name, tracks }

  init(_ playlist: Playlist) {
    id = playlist.number
    name = playlist.name ?? ""
    tracks = playlist.songs.map { Track($0, withID: false) }
  }
}
