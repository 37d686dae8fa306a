import StoredObjectsCore

/// Measures the cost of an object in stores of different sizes: all are inserted, then visited.
struct Growth: Workload {
  let name = "Growth"
  let summary = "insert songs in one save, reopen the store, visit all and keep none"
  let defaultCounts = [100_000, 1_000_000, 5_000_000, 10_000_000]
  let timing = Timing.inside

  func run(_ workspace: Workspace, _ count: Int) throws {
    try insertSongs(workspace, count)
    try SimpleScan().run(workspace, count)
  }
}
