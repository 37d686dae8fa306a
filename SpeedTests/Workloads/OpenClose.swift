import StoredObjectsCore

/// Measures the time until a large store can be used.
///
/// The count is the number of songs in it.
struct OpenClose: Workload {
  let name = "OpenClose"
  let summary = "open a store, read one song, and close it"
  let defaultCounts = [1_000_000]
  let timing = Timing.inside

  func operations(_ count: Int) -> Int { 1 }

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { _ = try song(count / 2, of: $0) }
  }
}

/// Returns one of the inserted songs, read by its row.
func song(_ index: Int, of store: Store) throws -> Song {
  let song = try store.object(Song.self, rowID: UInt32(index + 2))
  guard let song, song.seconds == UInt32(index % 600) else {
    throw WrongResult(description: "row \(index + 2) is another song")
  }
  return song
}
