import StoredObjectsCore
import Testing

@Test("A store opened later on the same disk reads the saves of an earlier one")
func roundTrip() throws {
  let disk = MemoryDisk()
  try saveThreeObjects(to: disk)
  let store = Store(backend: try MemoryBackend(disk: disk))
  try store.register(Song.self, Playlist.self)
  let list = try #require(try store.allObjects(of: Playlist.self).first)
  #expect(list.songs.map(\.title) == ["a", "bb", "a"])
  #expect(list.songs[0] === list.songs[2])
  #expect(try store.count(of: Song.self) == 2)
  try store.setBuffer(named: "Favorite") { $0.write(list.songs[1]) }
  try store.saveChanges()
  #expect(try store.buffer(named: "Favorite")?.bytes == [3, 0, 0, 0])
}

private func saveThreeObjects(to disk: MemoryDisk) throws {
  let backend = try MemoryBackend(disk: disk)
  defer { backend.close() }
  let store = Store(backend: backend)
  try store.register(Song.self, Playlist.self)
  let (a, b, list) = (Song("a", 1), Song("b", 2), Playlist())
  list.songs = [a, b, a]
  for object in [a, b, list] { store.insert(object) }
  try store.saveChanges()
  #expect(!store.hasUnsavedChanges)
  b.title = "bb"
  #expect(store.hasUnsavedChanges)
  try store.saveChanges()
}
