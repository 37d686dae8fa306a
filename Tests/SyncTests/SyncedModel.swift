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

  /// A class with values outside of records.
  @Stored final class Recording: StoredObject {
    var title = ""
    @External(above: 64) var audio = ExternalData()
    @External(above: 64) var cover: ExternalData?
  }

  let syncedClasses: [StoredObject.Type] = [
    Song.self, Artist.self, Playlist.self, Recording.self,
  ]
#endif
