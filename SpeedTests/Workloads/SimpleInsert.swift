import StoredObjectsCore

/// Inserts songs in one save.
struct SimpleInsert: Workload {
  let name = "SimpleInsert"
  let summary = "insert new songs and save them once"
  let defaultCounts = [1_000_000]

  func run(_ workspace: Workspace, _ count: Int) throws {
    try insertSongs(workspace, count)
  }
}

/// Inserts songs, and saves all of them together or each separately.
func insertSongs(_ workspace: Workspace, _ count: Int, savesEach: Bool = false) throws {
  try workspace.withStore { store in
    for index in 0..<count {
      let song = Song()
      song.title = title(index)
      song.seconds = UInt32(index % 600)
      store.insert(song)
      if savesEach { try store.saveChanges() }
    }
    if !savesEach { try store.saveChanges() }
  }
}
