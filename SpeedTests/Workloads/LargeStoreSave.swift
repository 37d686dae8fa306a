import StoredObjectsCore

/// What one small save costs in a store that is large: it must not be the store's size.
///
/// The count is that of the songs in it.
struct LargeStoreSave: Workload {
  let name = "LargeStoreSave"
  let summary = "open a large store, change one song, save, and close"
  let defaultCounts = [1_000_000]
  let timing = Timing.inside

  func operations(_ count: Int) -> Int { 1 }

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try changeSong(workspace, count / 2)
  }
}

/// Opens a store, changes the title of one song, saves, and closes.
func changeSong(_ workspace: Workspace, _ index: Int) throws {
  try workspace.withStore { store in
    try song(index, of: store).title += " again"
    try store.saveChanges()
  }
}
