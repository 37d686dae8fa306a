import StoredObjectsCore

/// How long a large store takes until it is of use.
///
/// The count is that of the songs in it.
struct OpenClose: Workload {
  let name = "OpenClose"
  let summary = "open a store, read one song, and close it"
  let defaultCounts = [1_000_000]
  let timing = Timing.inside

  func operations(_ count: Int) -> Int { 1 }

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { _ = try songInTheMiddle(of: $0, count) }
  }
}

/// One song out of so many, read by its row.
func songInTheMiddle(of store: Store, _ count: Int) throws -> Song? {
  let song = try store.object(Song.self, rowID: UInt32(count / 2 + 2))
  try expect(song?.seconds == UInt32(count / 2 % 600), "it is another song")
  return song
}
