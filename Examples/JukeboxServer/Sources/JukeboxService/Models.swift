import Foundation
import StoredObjects

@Stored final class Song: StoredObject {
  #Index<Song>([\.artist, \.playCount])

  @FullText(weight: 2) var title = ""
  @FullText var artist = ""
  var album = ""
  var seconds = 0
  var playCount = 0
  var lastPlayed: Date?
}

@Stored final class Playlist: StoredObject {
  @Indexed var name = ""
  // A relationship, so that deleting a song removes it from its playlists, which the index finds.
  @Relationship @Indexed var songs: [Song] = []
}
