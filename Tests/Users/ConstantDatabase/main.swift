import CDBBackend
import StoredObjectsModel

@Stored final class Song: StoredObject {
  @Indexed var title: String = ""
  @Relationship(inverse: \Artist.songs) var artist: Artist?
}

@Stored final class Artist: StoredObject {
  var name: String = ""
  var songs: [Song] = []
}

func withStore<Result>(_ body: (Store) throws -> Result) throws -> Result {
  let backend = try CDBBackend(directory: CommandLine.arguments[1])
  let store = Store(backend: backend)
  try store.register(Song.self, Artist.self)
  let result = try body(store)
  try backend.close()
  return result
}

try withStore { store in
  let (song, artist) = (Song(), Artist())
  (song.title, artist.name) = ("Walking on Sunshine", "Katrina and the Waves")
  store.insert(song)
  store.insert(artist)
  artist.songs = [song]
  try store.saveChanges()
}
try withStore { store in
  let songs = try store.fetch(Song.self, where: \.title, is: "Walking on Sunshine")
  print(songs.map { $0.artist?.name ?? "" })
}
