/// A song as JSON.
struct TrackJSON: Encodable {
  /// Left out inside of playlists.
  var id: Int64?
  var title: String
  var artist: String
  var album: String
  var seconds: Int64

  init(_ song: Song, withID: Bool) {
    id = withID ? song.number : nil
    title = song.title ?? ""
    artist = song.artist ?? ""
    album = song.album ?? ""
    seconds = song.seconds
  }
}

/// A playlist as JSON.
struct PlaylistJSON: Encodable {
  var id: Int64
  var name: String
  var tracks: [TrackJSON]

  init(_ playlist: Playlist) {
    id = playlist.number
    name = playlist.name ?? ""
    tracks = playlist.songs.map { TrackJSON($0, withID: false) }
  }
}
