import StoredObjectsCore

/// A song with a title that makes it as large as an object of zodbshootout: 128 bytes.
final class Song: StoredObject {
  static let longTitle =
    "A song with a title that is long enough to make its record one hundred and twenty-eight bytes "
    + "long in the end, as others"

  @Content var title = ""
  @Content var seconds: UInt32 = 0

  override class var isCodedOnAnyThread: Bool { true }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }

  static func new() -> Song {
    let song = Song()
    song.title = longTitle
    song.seconds = 200
    return song
  }
}

/// A list of songs.
final class Playlist: StoredObject {
  @Content var title = ""
  @Content var songs: ObjectList<Song> = []

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    songs = try buffer.readList(of: Song.self)
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(songs)
  }
}
