import StoredObjectsCore

/// A class that holds no other objects.
final class Jotting: StoredObject {
  @Content var title = ""
  @Content var rating = 0
  @Content var genre = ""

  var initial: String { String(title.prefix(1)) }

  override class var indexes: [AttributeIndex] {
    [AttributeIndex("rating", \Jotting.rating)]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    rating = try buffer.readInt()
    genre = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(rating)
    buffer.write(genre)
  }
}

/// A class that refers to others, with an inverse and without.
class Piece: StoredObject {
  @Content var title = ""
  @Content var performer: Performer?
  @Content var publisher: Publisher?

  /// Values of referenced objects.
  var performerName: String { performer?.name ?? "" }
  var town: String { publisher?.town ?? "" }

  override class var relationships: [Relationship] {
    [
      Relationship(\Piece.performer, inverse: \Performer.pieces)
    ]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    performer = try buffer.readObject(of: Performer.self)
    publisher = try buffer.readObject(of: Publisher.self)
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(performer)
    buffer.write(publisher)
  }
}

final class LivePiece: Piece {}

final class Performer: StoredObject {
  @Content var name = ""
  @Content var pieces: ObjectList<Piece> = []

  var pieceCount: Int { pieces.count }

  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    pieces = try buffer.readList(of: Piece.self)
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(pieces)
  }
}

/// A class that pieces refer to, without an inverse.
final class Publisher: StoredObject {
  @Content var town = ""

  override func readContent(from buffer: inout DataBuffer) throws {
    town = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(town) }
}

/// All classes.
let liveClasses: [StoredObject.Type] = [
  Jotting.self, Piece.self, LivePiece.self, Performer.self, Publisher.self,
]
