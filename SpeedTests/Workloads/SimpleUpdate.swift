import StoredObjectsCore

/// Changes the title of every third song.
struct SimpleUpdate: Workload {
  let name = "SimpleUpdate"
  let summary = "fetch all songs, change every third title, and save once"
  let defaultCounts = [100_000]

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      let songs = try store.allObjects(of: Song.self)
      try expect(songs.count == count, "\(songs.count) songs")
      for index in stride(from: 0, to: count, by: 3) { songs[index].title += " again" }
      try store.saveChanges()
      workspace.keep(songs)
    }
  }
}
