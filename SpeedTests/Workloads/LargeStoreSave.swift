import StoredObjectsCore

/// Measures the cost of one small save in a large store, which must not depend on the store's size.
///
/// The count is the number of songs in it.
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
