import StoredObjectsCore

final class Song: StoredObject {
  @Content var title = ""

  override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }
}

let backend = try MemoryBackend()
let store = Store(backend: backend)
try store.register(Song.self)
let song = Song()
song.title = "Walking on Sunshine"
store.insert(song)
try store.saveChanges()

let other = Store(backend: backend)
try other.register(Song.self)
print(try other.allObjects(of: Song.self).map(\.title))
