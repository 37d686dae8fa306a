import StoredObjects

// The same classes without `@Stored`, for a build without the trait `Macros`. Their records are the
// same.

#if !Macros
  final class Song: StoredObject {
    @Content var number: Int64 = 0
    @Content var isFromLibrary = false
    @Content var title: String?
    @Content var artist: String?
    @Content var album: String?
    @Content var milliseconds: Int64?
    @Content var location: String?
    @Content var attributes = Attributes()
    @Content var playlists: Set<Playlist> = []

    override class var indexes: [AttributeIndex] {
      [
        AttributeIndex("number", \Song.number), AttributeIndex("title", \Song.title),
        AttributeIndex("artist", \Song.artist), AttributeIndex("album", \Song.album),
        AttributeIndex("milliseconds", \Song.milliseconds),
      ]
    }

    override class var fullTextAttributes: [FullTextAttribute] {
      [
        FullTextAttribute("title", \Song.title, weight: 2),
        FullTextAttribute("artist", \Song.artist), FullTextAttribute("album", \Song.album),
      ]
    }

    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(number)
      buffer.write(isFromLibrary)
      buffer.write(title)
      buffer.write(artist)
      buffer.write(album)
      buffer.write(milliseconds)
      buffer.write(location)
      buffer.write(attributes)
      buffer.writeValue(playlists, as: Set<Playlist>.self)
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
      playlists = try buffer.readValue(of: Set<Playlist>.self)
    }

    override func dissolveAllRelationships() { playlists = [] }
  }

  final class Playlist: StoredObject {
    @Content var number: Int64 = 0
    @Content var origin = Origin.created
    @Content var name: String?
    @Content var attributes = Attributes()
    @Content var songs: [Song] = []

    override class var relationships: [Relationship] {
      [Relationship(\Playlist.songs, inverse: \Song.playlists)]
    }

    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(number)
      buffer.write(origin)
      buffer.write(name)
      buffer.write(attributes)
      buffer.write(songs)
    }

    override func readContent(from buffer: inout DataBuffer) throws {
      number = try buffer.readInt64()
      origin = try buffer.read()
      name = try buffer.read()
      attributes = try buffer.read()
      songs = try buffer.readObjects(of: Song.self)
    }

    override func dissolveAllRelationships() { songs = [] }
  }
#endif
