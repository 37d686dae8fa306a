import StoredObjectsCore

/// Fetches all songs as objects, and keeps them until the end.
struct SimpleFetch: Workload {
  let name = "SimpleFetch"
  let summary = "fetch all songs, with their content"
  let defaultCounts = [1_000_000]

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      let songs = try store.allObjects(of: Song.self)
      try expect(songs.count == count, "\(songs.count) songs")
      try expect(songs.last?.title == title(count - 1), "the last song is another")
      workspace.keep(songs)
    }
  }
}
