import StoredObjectsCore

/// A class without delete rules.
final class Track: StoredObject {
  @Content var title = ""

  convenience init(_ title: String) {
    self.init()
    self.title = title
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }
}

/// A list with a delete rule of its own: its sublist goes with it.
final class Mix: StoredObject {
  @Content var name = ""
  @Content var tracks: [Track] = []
  @Content var sublist: Mix?
  @Content var anything: StoredObject?

  convenience init(_ name: String, _ tracks: [Track] = []) {
    self.init()
    (self.name, self.tracks) = (name, tracks)
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(tracks)
    buffer.write(sublist)
    buffer.writeAny(anything)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    tracks = try buffer.readObjects(of: Track.self)
    sublist = try buffer.readObject(of: Mix.self)
    anything = try buffer.readAnyObject()
  }
  override func prepareForDelete() {
    if let sublist { store?.delete(sublist) }
    (tracks, sublist) = ([], nil)
  }
  override func dissolveAllRelationships() { (tracks, sublist, anything) = ([], nil, nil) }
}

func historyStore(_ disk: MemoryDisk) throws -> Store {
  let store = Store(backend: try MemoryBackend(disk: disk))
  try store.register(Track.self, Mix.self)
  return store
}
