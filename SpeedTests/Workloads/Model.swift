package import StoredObjectsCore

/// A song of the original's speed tests: a title and a duration.
package final class Song: StoredObject {
  // Not `package`: the compiler removes more checks of properties that only this module can access.
  @Content var title = ""
  @Content var seconds: UInt32 = 0

  package convenience init(title: String, seconds: UInt32) {
    self.init()
    self.title = title
    self.seconds = seconds
  }

  package override class var isCodedOnAnyThread: Bool { true }

  package override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }

  package override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
}

/// A playlist of the original's speed tests: a title and its songs in order.
package final class Playlist: StoredObject {
  @Content var title = ""
  @Content var songs: ObjectList<Song> = []

  package override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    songs = try buffer.readList(of: Song.self)
  }

  package override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(songs)
  }
}

/// A song with an index of its title.
///
/// It is written out like all songs here: properties of a common superclass take some hundred
/// additional instructions to create and to index, which would be measured.
package final class IndexedSong: StoredObject {
  @Content var title = ""
  @Content var seconds: UInt32 = 0

  package override class var indexes: [AttributeIndex] {
    [AttributeIndex("title", \IndexedSong.title)]
  }

  package override class var isCodedOnAnyThread: Bool { true }

  package override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }

  package override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
}

/// A song with a full-text index of its title.
package final class SearchedSong: StoredObject {
  @Content var title = ""
  @Content var seconds: UInt32 = 0

  package override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("title", \SearchedSong.title)]
  }

  package override class var isCodedOnAnyThread: Bool { true }

  package override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }

  package override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
}

/// The same song without the full-text index.
package final class UnsearchedSong: StoredObject {
  @Content var title = ""
  @Content var seconds: UInt32 = 0

  package override class var storedName: String { SearchedSong.storedName }
  package override class var isCodedOnAnyThread: Bool { true }

  package override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }

  package override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
}

/// An object with a value that is kept in a separate file.
package final class Cover: StoredObject {
  static let byteCount = 17_000

  @Content var picture = ExternalData()

  package override func readContent(from buffer: inout DataBuffer) throws {
    picture = try buffer.read(ExternalData.self)
  }

  package override func writeContent(to buffer: inout DataBuffer) { buffer.write(picture) }
}
