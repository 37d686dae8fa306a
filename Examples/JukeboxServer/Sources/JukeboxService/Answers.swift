import Foundation
import Hummingbird
import StoredObjects

// The answers of the service. They are values, because objects can't leave the closures of a
// container.

struct SongAnswer: ResponseCodable, Equatable {
  var id: UInt32
  var title: String
  var artist: String
  var album: String
  var seconds: Int
  var playCount: Int

  init(_ song: Song) {
    id = song.rowID
    (title, artist, album) = (song.title, song.artist, song.album)
    (seconds, playCount) = (song.seconds, song.playCount)
  }
}

struct PlaylistAnswer: ResponseCodable, Equatable {
  var id: UInt32
  var name: String
  var songs: [SongAnswer]

  init(_ playlist: Playlist) {
    (id, name) = (playlist.rowID, playlist.name)
    songs = playlist.songs.map { SongAnswer($0) }
  }
}

struct ArtistAnswer: ResponseCodable, Equatable {
  var artist: String
  var songCount: Int
  var playCount: Int
}

struct ImportAnswer: ResponseCodable, Equatable {
  var count: Int
}
