import StoredObjectsCore

/// Moves one entry in a long list.
///
/// The count is the number of the list's entries.
struct ListEdit: Workload {
  let name = "ListEdit"
  let summary = "fetch a list, move its last entry to the middle, and save"
  let defaultCounts = [100_000]
  let durabilities: [Durability] = [.full, .process]
  let timing = Timing.inside

  func operations(_ count: Int) -> Int { 1 }

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertPlaylists(workspace, count, of: count)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      let playlists = try store.allObjects(of: Playlist.self)
      try expect(playlists.first?.songs.count == count, "it is another list")
      playlists.first?.move(from: count - 1, to: count / 2)
      try store.saveChanges()
      workspace.keep(playlists)
    }
  }
}

extension Playlist {
  /// Moves one song.
  fileprivate func move(from: Int, to: Int) { songs.move(from: from, to: to) }
}
