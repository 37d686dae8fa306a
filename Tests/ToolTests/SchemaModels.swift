import Foundation
import ProgramTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import TokyoCabinetBackend

/// The classes of the first program.
private enum Early {
  final class Artist: StoredObject {
    @Content var name = ""

    override class var layout: ClassLayout? {
      ClassLayout(Artist.self, [StoredProperty("name", String.self)])
    }
    override func writeContent(to buffer: inout DataBuffer) { buffer.write(name) }
    override func readContent(from buffer: inout DataBuffer) throws {
      name = try buffer.readString()
    }
  }

  final class Track: StoredObject {
    @Content var title = ""
    @Content var seconds: UInt16 = 0
    @Content var isOld = false

    override class var layout: ClassLayout? {
      ClassLayout(
        Track.self,
        [
          StoredProperty("title", String.self), StoredProperty("seconds", UInt16.self),
          StoredProperty("isOld", Bool.self),
        ])
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(title)
      buffer.write(seconds)
      buffer.write(isOld)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
      seconds = try buffer.readUInt16()
      isOld = try buffer.readBool()
    }
  }
}

/// Those of a later one.
private enum Late {
  enum Genre: UInt8, DataBufferValue {
    case jazz
    case `default` = 7
  }

  enum Mood: String, DataBufferValue, CaseIterable {
    case happy
    case sad = "very \"sad\""
  }

  struct Size: Codable, Hashable {
    var width = 1
    var height = 2
  }

  struct Point: DataBufferValue, Hashable {
    var x: UInt32 = 0
    init() {}
    init(from buffer: inout DataBuffer) throws(DataBufferError) { x = try buffer.readUInt32() }
    func write(to buffer: inout DataBuffer) { buffer.write(x) }
  }

  final class Track: StoredObject {
    @Content var seconds: UInt32 = 0
    @Content var name = ""
    @Content var artist: Early.Artist?
    @Content var `class` = Genre.jazz
    @Content var moods: [Mood: [Date]] = [:]
    @Content var sizes: [String: Size] = [:]
    @Content var places: Set<Point> = []
    @Content var rating: Int?

    override class var layout: ClassLayout? {
      ClassLayout(
        Track.self,
        [
          StoredProperty("seconds", UInt32.self),
          StoredProperty("name", String.self).formerly("title"),
          StoredProperty("artist", Early.Artist?.self), StoredProperty("class", Genre.self),
          StoredProperty("moods", [Mood: [Date]].self),
          StoredProperty("sizes", [String: Size].self),
          StoredProperty("places", Set<Point>.self), StoredProperty("rating", Int?.self),
        ])
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(seconds)
      buffer.write(name)
      buffer.write(artist)
      buffer.write(`class`)
      buffer.write(moods)
      buffer.write(codable: sizes)
      buffer.write(places)
      buffer.write(rating)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      seconds = try buffer.readUInt32()
      name = try buffer.readString()
      artist = try buffer.readObject(of: Early.Artist.self)
      `class` = try buffer.read()
      moods = try buffer.read()
      sizes = try buffer.readCodable()
      places = try buffer.read()
      rating = try buffer.read()
    }
  }

  final class Playlist: StoredObject {
    @Content var tracks: [Track] = []
    @Content var owner: StoredObject?

    override class var storedName: String { "My Playlist" }
    override class var classVersion: UInt8 { 2 }
    override class var layout: ClassLayout? {
      ClassLayout(
        Playlist.self,
        [
          StoredProperty("tracks", [Track].self), StoredProperty("rowID", StoredObject?.self),
        ])
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(tracks)
      buffer.writeAny(owner)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      tracks = try buffer.readObjects(of: Track.self)
      owner = try buffer.readAnyObject()
    }
  }
}

extension ProgramDirectory {
  /// A store called Library, whose tracks have had two layouts.
  func makeLibrary() throws {
    try save(registering: [Early.Artist.self, Early.Track.self]) { [Early.Track()] }
    try save(registering: [Early.Artist.self, Late.Track.self, Late.Playlist.self]) {
      let (artist, track, playlist) = (Early.Artist(), Late.Track(), Late.Playlist())
      (track.artist, playlist.tracks) = (artist, [track])
      return [artist, track, playlist]
    }
  }

  private func save(
    registering classes: [StoredObject.Type], _ objects: () -> [StoredObject]
  ) throws {
    let backend = try TokyoCabinetBackend(directory: path("Library"))
    let store = Store(backend: backend)
    for type in classes { try store.register(type) }
    for object in objects() { store.insert(object) }
    try store.saveChanges()
    try backend.close()
  }

  /// Replaces the layouts of a class in a store, or removes them.
  func setLayouts(of className: String, in name: String, to bytes: [UInt8]?) throws {
    let backend = try TokyoCabinetBackend(directory: path(name))
    try backend.commit { $0.set("\(className)..layouts", bytes) }
    try backend.checkpoint()
    try backend.close()
  }
}
