import StoredObjectsCore

/// Makes many saves of one object each; every save is durable before the next begins.
struct SmallSaves: Workload {
  let name = "SmallSaves"
  let summary = "insert songs, and save after each"
  let defaultCounts = [2_000]
  let durabilities: [Durability] = [.full, .process]

  func run(_ workspace: Workspace, _ count: Int) throws {
    try insertSongs(workspace, count, savesEach: true)
  }
}

/// The same work in a store that keeps a history.
struct RememberedSaves: Workload {
  let name = "RememberedSaves"
  let summary = "insert songs, and save after each, in a store that keeps a history"
  let defaultCounts = [2_000]
  let durabilities: [Durability] = [.full, .process]
  let rivals: Set<String>? = []

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { try $0.backend.beginHistory() }
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try insertSongs(workspace, count, savesEach: true)
  }
}
