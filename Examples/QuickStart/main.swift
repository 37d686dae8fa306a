import StoredObjects

final class Song: StoredObject {
  @Content var title = ""
  @Content var seconds: UInt32 = 0

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(seconds)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    seconds = try buffer.readUInt32()
  }
}

let store = Store(backend: try TokyoCabinetBackend(directory: "Music"))
try store.register(Song.self)

let song = Song()
song.title = "Walking on Sunshine"
store.insert(song)
try store.saveChanges()

for song in try store.allObjects(of: Song.self) { print(song.title) }
