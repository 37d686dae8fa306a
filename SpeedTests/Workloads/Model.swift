package import StoredObjectsCore

/// A song as the original's speed tests had it: a title and a duration.
package final class Song: StoredObject {
  @Content package var title = ""
  @Content package var seconds: UInt32 = 0

  package override class var isReadOnAnyThread: Bool { true }

  package override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }

  package override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
}

/// A playlist as the original's speed tests had it: a title and its songs in order.
package final class Playlist: StoredObject {
  @Content package var title = ""
  @Content package var songs: ObjectList<Song> = []

  package override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    songs = try buffer.readList(of: Song.self)
  }

  package override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(songs)
  }
}
