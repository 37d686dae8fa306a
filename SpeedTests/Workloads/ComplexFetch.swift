import StoredObjectsCore

/// Fetches all playlists, and the title of the first song of each.
struct ComplexFetch: Workload {
  let name = "ComplexFetch"
  let summary = "fetch all playlists and the title of each one's first song"
  let defaultCounts = [100_000]
  let timing = Timing.inside

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertPlaylists(workspace, count, of: 100)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      let playlists = try store.allObjects(of: Playlist.self)
      let titles = playlists.compactMap { $0.songs.first?.title }
      try expect(titles.count == count / 100, "\(titles.count) titles")
      try expect(titles.dropFirst().first == title(100 % count), "the second title is another")
      workspace.keep(playlists)
    }
  }
}
