import StoredObjectsCore

// Both sides of a relationship as lists that are made when they are looked at.

/// A clip knows the reels that hold it, and its box.
final class Clip: StoredObject {
  @Content var name = ""
  @Content var reels: ObjectList<Reel> = []
  @Content var box: Box?

  convenience init(_ name: String) {
    self.init()
    self.name = name
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(reels)
    buffer.write(box)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    reels = try buffer.readList(of: Reel.self)
    box = try buffer.readObject(of: Box.self)
  }
  override func dissolveAllRelationships() { (reels, box) = ([], nil) }
}

/// Many clips in an order, each in many reels.
final class Reel: StoredObject {
  @Content var name = ""
  @Content var clips: ObjectList<Clip> = []

  convenience init(_ name: String, _ clips: [Clip] = []) {
    self.init()
    (self.name, self.clips) = (name, ObjectList(clips))
  }
  override class var relationships: [Relationship] {
    [Relationship(\Reel.clips, inverse: \Clip.reels)]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(clips)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    clips = try buffer.readList(of: Clip.self)
  }
  override func dissolveAllRelationships() { clips = [] }
}

/// A box owns its clips, and has others in view.
final class Box: StoredObject {
  @Content var clips: ObjectList<Clip> = []
  /// Without an inverse.
  @Content var seen: ObjectList<Clip> = []

  override class var relationships: [Relationship] {
    [
      Relationship(\Box.clips, deleteRule: .cascade, inverse: \Clip.box),
      Relationship(\Box.seen),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(clips)
    buffer.write(seen)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    clips = try buffer.readList(of: Clip.self)
    seen = try buffer.readList(of: Clip.self)
  }
  override func dissolveAllRelationships() { (clips, seen) = ([], []) }
}

/// A list whose objects must be gone before it.
final class Shelf: StoredObject {
  @Content var clips: ObjectList<Clip> = []

  override class var relationships: [Relationship] {
    [Relationship(\Shelf.clips, deleteRule: .deny)]
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(clips) }
  override func readContent(from buffer: inout DataBuffer) throws {
    clips = try buffer.readList(of: Clip.self)
  }
  override func dissolveAllRelationships() { clips = [] }
}

func listedStore(_ disk: MemoryDisk) throws -> Store {
  let store = Store(backend: try MemoryBackend(disk: disk))
  try store.register(Clip.self, Reel.self, Box.self, Shelf.self)
  return store
}
