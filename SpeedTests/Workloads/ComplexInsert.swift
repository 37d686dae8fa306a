import StoredObjectsCore

/// Inserts playlists of 100 songs each, and 100 songs for each playlist.
struct ComplexInsert: Workload {
  let name = "ComplexInsert"
  let summary = "insert songs and playlists of 100 songs, and save them once"
  let defaultCounts = [100_000]

  func run(_ workspace: Workspace, _ count: Int) throws {
    try insertPlaylists(workspace, count, of: 100)
  }
}

func insertPlaylists(_ workspace: Workspace, _ count: Int, of length: Int) throws {
  try workspace.withStore { store in
    var songs: [Song] = []
    for index in 0..<count {
      let song = Song()
      song.title = title(index)
      song.seconds = UInt32(index % 600)
      store.insert(song)
      songs.append(song)
    }
    for index in 0..<count / length {
      let playlist = Playlist()
      playlist.title = "Playlist \(index)"
      // Not the order of the songs themselves, so that the order of a list is data.
      let members = (0..<length).map { songs[($0 * 977 + index * length) % count] }
      playlist.songs = ObjectList(members)
      store.insert(playlist)
    }
    try store.saveChanges()
  }
}
