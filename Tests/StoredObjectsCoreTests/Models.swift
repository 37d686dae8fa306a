import StoredObjectsCore

/// A class of plain values.
final class Song: StoredObject {
  @Content var title = ""
  @Content var seconds: UInt32 = 0

  convenience init(_ title: String, _ seconds: UInt32) {
    self.init()
    self.title = title
    self.seconds = seconds
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
}

/// A class that refers to another.
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
