import Foundation
import StoredObjectsCore

/// A class of the program whose store is shown.
final class Band: StoredObject {
  @Content var name = ""
  @Content var tracks: [Track] = []

  override class var layout: ClassLayout? {
    ClassLayout(
      Band.self,
      [StoredProperty("name", String.self), StoredProperty("tracks", [Track].self)])
  }
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("name", \Band.name, isUnique: true)]
  }
  override class var relationships: [Relationship] {
    [Relationship(\Band.tracks, inverse: \Track.band)]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(tracks)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    tracks = try buffer.readObjects(of: Track.self)
  }
}

/// Another, with values of many types, indexes and texts.
final class Track: StoredObject {
  enum Mood: String, DataBufferValue, CaseIterable { case calm, loud }

  @Content var title = ""
  @Content var remark: String?
  @Content var seconds = 0
  @Content var rating: Double?
  @Content var isLive = false
  @Content var released = Date(timeIntervalSinceReferenceDate: 0)
  @Content var mood = Mood.calm
  @Content var band: Band?

  override class var layout: ClassLayout? {
    ClassLayout(
      Track.self,
      [
        StoredProperty("title", String.self), StoredProperty("remark", String?.self),
        StoredProperty("seconds", Int.self), StoredProperty("rating", Double?.self),
        StoredProperty("isLive", Bool.self), StoredProperty("released", Date.self),
        StoredProperty("mood", Mood.self), StoredProperty("band", Band?.self),
      ])
  }
  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("title", \Track.title), AttributeIndex("seconds", \Track.seconds),
      AttributeIndex("rating", \Track.rating), AttributeIndex("released", \Track.released),
      AttributeIndex("band and title", \Track.band, \Track.title),
      AttributeIndex("folded remark", \Track.remark.folded),
      // Its name says nothing about its property.
      AttributeIndex("length", \Track.seconds),
    ]
  }
  override class var fullTextAttributes: [FullTextAttribute] {
    [
      FullTextAttribute("title", \Track.title, weight: 2),
      FullTextAttribute("remark", \Track.remark),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(remark)
    buffer.write(Int64(seconds))
    buffer.write(rating)
    buffer.write(isLive)
    buffer.write(released)
    buffer.write(mood)
    buffer.write(band)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    remark = try buffer.read()
    seconds = Int(try buffer.readInt64())
    rating = try buffer.read()
    isLive = try buffer.readBool()
    released = try buffer.readDate()
    mood = try buffer.read(Mood.self)
    band = try buffer.readObject(of: Band.self)
  }
}

/// A third, with a list in which objects can repeat.
final class Program: StoredObject {
  @Content var title = ""
  @Content var items: [Track] = []

  override class var layout: ClassLayout? {
    ClassLayout(
      Program.self,
      [StoredProperty("title", String.self), StoredProperty("items", [Track].self)])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(items)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    items = try buffer.readObjects(of: Track.self)
  }
}

/// The classes of the store, in the order of their IDs.
let browsedClasses: [StoredObject.Type] = [Band.self, Track.self, Program.self]

/// Opens a store with these classes.
func browsedStore(_ backend: any StoreBackend) throws -> Store {
  let store = Store(backend: backend)
  for type in browsedClasses { try store.register(type) }
  return store
}

/// Fills a store with bands, tracks and programs.
func fill(_ backend: any StoreBackend, tracks count: Int = 60) throws {
  let store = try browsedStore(backend)
  let words = ["Sun", "Rain", "Élan", "snow", "Zebra", "blue", "night"]
  let bands = (0..<4).map { number in
    let band = Band()
    band.name = "Band \(number)"
    return band
  }
  for band in bands { store.insert(band) }
  var tracks: [Track] = []
  for number in 0..<count {
    let track = Track()
    track.title = "\(words[number % words.count]) \(number / words.count)"
    track.remark = number % 3 == 0 ? nil : "\(words[(number / 2) % words.count]) remark"
    track.seconds = (number * 37) % 300
    track.rating = number % 4 == 0 ? nil : Double(number % 10) / 2
    track.isLive = number % 5 == 0
    track.released = Date(timeIntervalSince1970: Double(number) * 86_400)
    track.mood = number % 2 == 0 ? .calm : .loud
    store.insert(track)
    if number % 6 != 5 { track.band = bands[number % bands.count] }
    tracks.append(track)
  }
  for number in 0..<3 {
    let program = Program()
    program.title = "Program \(number)"
    program.items = (0..<8).map { tracks[($0 * (number + 3)) % tracks.count] }
    store.insert(program)
  }
  try store.saveChanges()
  try store.buildIndexes()
  _ = try store.searchCount(Track.self, TextQuery(parsing: "sun"))
}
