#if Macros
  import StoredObjects

  @Stored final class Song: StoredObject {
    var title = ""
    var seconds = 0
  }

  @Stored final class Playlist: StoredObject {
    var title = ""
    var songs: [Song] = []
  }

  let store = Store(backend: try TokyoCabinetBackend(directory: "Music"))
  try store.register(Song.self, Playlist.self)

  let song = Song()
  song.title = "Walking on Sunshine"
  let playlist = Playlist()
  playlist.title = "Holiday"
  playlist.songs = [song, song]  // order and repeats are kept
  store.insert(song)
  store.insert(playlist)
  try store.saveChanges()  // all of it, or nothing

  for playlist in try store.allObjects(of: Playlist.self) {
    print(playlist.title, playlist.songs.map(\.title))
  }
#endif
