import StoredObjectsCore
import Testing

final class Song: StoredObject {
  @Content var title = ""
  @Content var seconds: UInt32 = 0
  convenience init(_ title: String, _ seconds: UInt32) {
    self.init()
    self.title = title
    self.seconds = seconds
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
}

final class Playlist: StoredObject {
  @Content var title = ""
  @Content var songs: [Song] = []
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    songs = try buffer.readObjects(of: Song.self)
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(songs)
  }
}

@Test func smoke() throws {
  let disk = MemoryDisk()
  do {
    let backend = try MemoryBackend(disk: disk)
    let store = Store(backend: backend)
    try store.register(Song.self, Playlist.self)
    let a = Song("a", 1), b = Song("b", 2)
    let p = Playlist()
    p.songs = [a, b, a]
    for o in [a, b, p] { store.insert(o) }
    try store.saveChanges()
    #expect(!store.hasUnsavedChanges)
    b.title = "bb"
    #expect(store.hasUnsavedChanges)
    try store.saveChanges()
    backend.close()
  }
  let store = Store(backend: try MemoryBackend(disk: disk))
  try store.register(Song.self, Playlist.self)
  let p = try #require(try store.allObjects(of: Playlist.self).first)
  #expect(p.songs.map(\.title) == ["a", "bb", "a"])
  #expect(p.songs[0] === p.songs[2])
  #expect(try store.count(of: Song.self) == 2)
  try store.setBuffer(named: "Favorite") { $0.write(p.songs[1]) }
  try store.saveChanges()
  #expect(try store.buffer(named: "Favorite")?.bytes == [3, 0, 0, 0])
}
