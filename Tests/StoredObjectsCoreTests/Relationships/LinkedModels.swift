import StoredObjectsCore

/// A song that knows the lists that hold it, and its record.
final class Tune: StoredObject {
  @Content var name = ""
  @Content var lists: [TuneList] = []
  @Content var disc: Disc?

  convenience init(_ name: String) {
    self.init()
    self.name = name
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(lists)
    buffer.write(disc)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    lists = try buffer.readObjects(of: TuneList.self)
    disc = try buffer.readObject(of: Disc.self)
  }
  override func dissolveAllRelationships() { (lists, disc) = ([], nil) }
}

/// Many tunes in an order, each in many lists.
final class TuneList: StoredObject {
  @Content var name = ""
  @Content var tunes: [Tune] = []

  convenience init(_ name: String, _ tunes: [Tune] = []) {
    self.init()
    (self.name, self.tunes) = (name, tunes)
  }
  override class var relationships: [Relationship] {
    [Relationship(\TuneList.tunes, deleteRule: .nullify, inverse: \Tune.lists)]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(tunes)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    tunes = try buffer.readObjects(of: Tune.self)
  }
  override func dissolveAllRelationships() { tunes = [] }
}

/// A record owns its tunes; a tune is on one record.
final class Disc: StoredObject {
  @Content var tunes: [Tune] = []
  /// One to one.
  @Content var sleeve: Sleeve?
  /// Without an inverse.
  @Content var favourites: [Tune] = []

  override class var relationships: [Relationship] {
    [
      Relationship(\Disc.tunes, deleteRule: .cascade, inverse: \Tune.disc),
      Relationship(\Disc.sleeve, deleteRule: .cascade, inverse: \Sleeve.disc),
      Relationship(\Disc.favourites),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(tunes)
    buffer.write(sleeve)
    buffer.write(favourites)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    tunes = try buffer.readObjects(of: Tune.self)
    sleeve = try buffer.readObject(of: Sleeve.self)
    favourites = try buffer.readObjects(of: Tune.self)
  }
  override func dissolveAllRelationships() { (tunes, sleeve, favourites) = ([], nil, []) }
}

final class Sleeve: StoredObject {
  @Content var disc: Disc?
  @Content var guards: Set<Tune> = []
  @Content var unguarded: Tune?

  override class var relationships: [Relationship] {
    [
      Relationship(\Sleeve.guards, deleteRule: .deny),
      Relationship(\Sleeve.unguarded, deleteRule: .noAction),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(disc)
    buffer.writeValue(guards, as: Set<Tune>.self)
    buffer.write(unguarded)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    disc = try buffer.readObject(of: Disc.self)
    guards = try buffer.readValue(of: Set<Tune>.self)
    unguarded = try buffer.readObject(of: Tune.self)
  }
  override func dissolveAllRelationships() { (disc, guards, unguarded) = (nil, [], nil) }
}

/// A tree, both of whose sides are in one class.
final class Branch: StoredObject {
  @Content var parent: Branch?
  @Content var children: [Branch] = []

  override class var relationships: [Relationship] {
    [Relationship(\Branch.children, deleteRule: .cascade, inverse: \Branch.parent)]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(parent)
    buffer.write(children)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    parent = try buffer.readObject(of: Branch.self)
    children = try buffer.readObjects(of: Branch.self)
  }
  override func dissolveAllRelationships() { (parent, children) = (nil, []) }
}

func linkedStore(_ disk: MemoryDisk) throws -> Store {
  let store = Store(backend: try MemoryBackend(disk: disk))
  try store.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
  return store
}
