import StoredObjectsCore

/// A song as the original's speed tests had it: a title and a duration.
final class Song: StoredObject {
  @Content var title = ""
  @Content var seconds: UInt32 = 0

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
}

/// A playlist as the original's speed tests had it: a title and its songs in order.
final class Playlist: StoredObject {
  @Content var title = ""
  @Content var songs: [Song] = []

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    songs = try buffer.readObjects(of: Song.self)
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(songs)
  }
}
