import Foundation
import StoredObjectsCore
import TestedBackends

enum Mood: Int32, IndexableValue { case calm, merry, sad }

/// A class with an index of each kind.
final class Track: StoredObject {
  @Content var title = ""
  @Content var seconds: Int32 = 0
  @Content var rating = 0.0
  @Content var note: String?
  @Content var isLive = false
  @Content var added = Date(timeIntervalSinceReferenceDate: 0)
  @Content var code = UUID()
  @Content var mood = Mood.calm
  @Content var genre = ""
  @Content var original: Track?
  @Content var versions: [Track] = []

  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("title", \Track.title),
      AttributeIndex("seconds", \Track.seconds),
      AttributeIndex("rating", \Track.rating),
      AttributeIndex("note", \Track.note),
      AttributeIndex("genre, live, seconds", \Track.genre, \Track.isLive, \Track.seconds),
      AttributeIndex("added", \Track.added),
      AttributeIndex("code", \Track.code, isUnique: true),
      AttributeIndex("mood", \Track.mood),
      AttributeIndex("original", \Track.original),
      AttributeIndex("versions", toMany: \Track.versions),
    ]
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
    buffer.write(rating)
    buffer.write(note != nil)
    buffer.write(note ?? "")
    buffer.write(isLive)
    buffer.write(added.timeIntervalSinceReferenceDate)
    buffer.write(code.uuidString)
    buffer.write(mood.rawValue)
    buffer.write(genre)
    buffer.write(original)
    buffer.write(versions)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readInt32()
    rating = try buffer.readDouble()
    let hasNote = try buffer.readBool()
    let text = try buffer.readString()
    note = hasNote ? text : nil
    isLive = try buffer.readBool()
    added = Date(timeIntervalSinceReferenceDate: try buffer.readDouble())
    code = UUID(uuidString: try buffer.readString()) ?? UUID()
    mood = Mood(rawValue: try buffer.readInt32()) ?? .calm
    genre = try buffer.readString()
    original = try buffer.readObject(of: Track.self)
    versions = try buffer.readObjects(of: Track.self)
  }
}

/// Refers to many.
final class Mix: StoredObject {
  @Content var tracks: [Track] = []

  override class var indexes: [AttributeIndex] { [AttributeIndex("tracks", toMany: \Mix.tracks)] }

  override func writeContent(to buffer: inout DataBuffer) { buffer.write(tracks) }
  override func readContent(from buffer: inout DataBuffer) throws {
    tracks = try buffer.readObjects(of: Track.self)
  }
}
