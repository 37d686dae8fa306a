import Foundation
import StoredObjectsCore

/// The classes of three versions of a program.
///
/// The first keeps the name of an artist in each song, and genres as objects.
enum Before {
  static let classes: [StoredObject.Type] = [Song.self, Genre.self, Playlist.self]

  final class Song: StoredObject {
    @Content var title = ""
    @Content var artistName = ""
    @Content var genre: Genre?
    @Content var anything: StoredObject?

    override class var layout: ClassLayout? {
      ClassLayout(
        Song.self,
        [
          StoredProperty("title", String.self), StoredProperty("artistName", String.self),
          StoredProperty("genre", Genre?.self), StoredProperty("anything", StoredObject?.self),
        ])
    }
    override class var indexes: [AttributeIndex] { [AttributeIndex("title", \Song.title)] }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(title)
      buffer.write(artistName)
      buffer.write(genre)
      buffer.writeAny(anything)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
      artistName = try buffer.readString()
      genre = try buffer.readObject(of: Genre.self)
      anything = try buffer.readAnyObject()
    }
  }

  final class Genre: StoredObject {
    @Content var name = ""
    @Content var rank: UInt16 = 0
    @Content var note: String?

    override class var layout: ClassLayout? {
      ClassLayout(
        Genre.self,
        [
          StoredProperty("name", String.self), StoredProperty("rank", UInt16.self),
          StoredProperty("note", String?.self),
        ])
    }
    override class var indexes: [AttributeIndex] { [AttributeIndex("name", \Genre.name)] }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(name)
      buffer.write(rank)
      buffer.write(note)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      name = try buffer.readString()
      rank = try buffer.readUInt16()
      note = try buffer.read()
    }
  }

  final class Playlist: StoredObject {
    @Content var songs: [Song] = []

    override class var layout: ClassLayout? {
      ClassLayout(Playlist.self, [StoredProperty("songs", [Song].self)])
    }
    override func writeContent(to buffer: inout DataBuffer) { buffer.write(songs) }
    override func readContent(from buffer: inout DataBuffer) throws {
      songs = try buffer.readObjects(of: Song.self)
    }
  }
}

/// The last has artists as objects, genres as texts, and songs under another name.
enum After {
  static let classes: [StoredObject.Type] = [Artist.self, Track.self, Playlist.self]

  final class Track: StoredObject {
    @Content var title = ""
    @Content var artist: Artist?
    @Content var genreName: String?
    @Content var anything: StoredObject?
    @Content var visits: UInt32 = 0

    override class var layout: ClassLayout? {
      ClassLayout(
        Track.self,
        [
          StoredProperty("title", String.self), StoredProperty("artist", Artist?.self),
          StoredProperty("genreName", String?.self),
          StoredProperty("anything", StoredObject?.self), StoredProperty("visits", UInt32.self),
        ])
    }
    override class var indexes: [AttributeIndex] { [AttributeIndex("title", \Track.title)] }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(title)
      buffer.write(artist)
      buffer.write(genreName)
      buffer.writeAny(anything)
      buffer.write(visits)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
      artist = try buffer.readObject(of: Artist.self)
      genreName = try buffer.read()
      anything = try buffer.readAnyObject()
      visits = try buffer.readUInt32()
    }
  }

  final class Artist: StoredObject {
    @Content var name = ""
    @Content var visits: UInt32 = 0

    override class var layout: ClassLayout? {
      ClassLayout(
        Artist.self,
        [StoredProperty("name", String.self), StoredProperty("visits", UInt32.self)])
    }
    override class var indexes: [AttributeIndex] {
      [AttributeIndex("name", \Artist.name, isUnique: true)]
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(name)
      buffer.write(visits)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      name = try buffer.readString()
      visits = try buffer.readUInt32()
    }
  }

  final class Playlist: StoredObject {
    @Content var songs: [Track] = []

    override class var layout: ClassLayout? {
      ClassLayout(Playlist.self, [StoredProperty("songs", [Track].self)])
    }
    override func writeContent(to buffer: inout DataBuffer) { buffer.write(songs) }
    override func readContent(from buffer: inout DataBuffer) throws {
      songs = try buffer.readObjects(of: Track.self)
    }
  }

  /// The steps between, with small batches.
  static func migrations(batchSize: Int = 3) -> [Migration] {
    [
      .rename("Song", to: "Track"),
      Migration("artists are objects") { migration in
        try migration.forEach(Track.self, batchSize: batchSize) { track, old in
          track.visits += 1
          guard let name = try old.value("artistName", as: String.self), !name.isEmpty else {
            return
          }
          let store = migration.store
          let known = try store.first(Artist.self, where: #Predicate { $0.name == name })
          let artist = known ?? Artist()
          if known == nil {
            artist.name = name
            store.insert(artist)
          }
          artist.visits += 1
          track.artist = artist
        }
      },
      Migration("genres are texts") { migration in
        try migration.forEach(Track.self, batchSize: batchSize) { track, old in
          track.visits += 1
          guard let genre = try old.id("genre"), let record = try migration.record(genre)
          else { return }
          track.genreName = try record.value("name", as: String.self)
        }
      },
      .retire("Genre"),
    ]
  }
}
