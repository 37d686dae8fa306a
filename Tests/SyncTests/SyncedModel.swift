#if Macros
  import StoredObjectsModel

  @Stored final class Song: StoredObject {
    var title = ""
    var seconds = 0
    var notes: [String] = []
    @Unique var code: String?
    var artist: Artist?
  }

  @Stored final class Artist: StoredObject {
    var name = ""
    @Relationship(inverse: \Song.artist) var songs: [Song] = []
  }

  @Stored final class Playlist: StoredObject {
    var title = ""
    var songs: [Song] = []
  }

  let syncedClasses: [StoredObject.Type] = [Song.self, Artist.self, Playlist.self]
#endif
