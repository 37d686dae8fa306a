import StoredObjectsCore

#if Macros
  import StoredObjects
#endif

/// A song, with a hand-written or a generated class.
protocol SongClass: StoredObject {
  var title: String { get set }
  var seconds: UInt32 { get set }
  var songs: [Self] { get set }
}

/// A song written by hand.
final class HandwrittenSong: StoredObject, SongClass {
  @Content var title: String = ""
  @Content var seconds: UInt32 = 0
  @Content var songs: [HandwrittenSong] = []

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
    buffer.write(songs)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
    songs = try buffer.readObjects(of: HandwrittenSong.self)
  }
}

#if Macros
  /// The same song by `@Stored`.
  @Stored final class GeneratedSong: StoredObject, SongClass {
    var title: String = ""
    var seconds: UInt32 = 0
    var songs: [GeneratedSong] = []
  }
#endif
