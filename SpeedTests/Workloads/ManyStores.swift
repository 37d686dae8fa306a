import StoredObjectsCore

/// Opens small stores one after another, as in a program with a store for each document.
///
/// The count is the number of stores.
struct ManyStores: Workload {
  let name = "ManyStores"
  let summary = "open stores of 100 songs each, change the title of one song, save, and close"
  let defaultCounts = [100]
  let durabilities: [Durability] = [.full, .process]
  let timing = Timing.inside
  let rivals: Set<String>? = ["sqlite-c", "lmdb-c"]
  private let songsEach = 100

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    for number in 0..<count { try insertSongs(workspace.part(number), songsEach) }
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    for number in 0..<count { try changeSong(workspace.part(number), number % songsEach) }
  }
}
