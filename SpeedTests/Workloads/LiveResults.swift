import StoredObjectsCore
import WorkloadData

/// Changes one of many sorted rows at a time, followed by live results.
///
/// The latency is that of an edit, which moves the song, and of reading the new results. Only
/// StoredObjects is measured.
struct LiveResultsEdit: Workload {
  let name = "LiveResults"
  let summary = "change the title of one song of all, and read the first of live results by title"
  let defaultCounts = [100_000]
  let defaultOperations: Int? = 10_000
  let timing = Timing.inside
  let rivals: Set<String>? = []

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      let results = try store.results(Song.self, sortedBy: [.ascending(\.title)])
      try expect(results.count == count, "there are \(results.count)")
      try editSongs(store, of: count, workspace) { song in
        try expect(results.index(of: song) != nil && results.count == count, "a song is missing")
      }
    }
  }
}

/// The same work, with the titles fetched again after each change.
struct RefetchedResults: Workload {
  let name = "RefetchedResults"
  let summary = "change the title of one song of all, and fetch the IDs of all by title again"
  let defaultCounts = [100_000]
  let defaultOperations: Int? = 20
  let timing = Timing.inside
  let rivals: Set<String>? = []

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      try editSongs(store, of: count, workspace) { _ in
        let ids = try store.fetchIDs(Song.self, sortedBy: [.ascending(\.title)])
        try expect(ids.count == count, "there are \(ids.count)")
      }
    }
  }
}

/// Changes songs one by one, in random order, and measures each change with its consequences.
private func editSongs(
  _ store: Store, of count: Int, _ workspace: Workspace, _ follow: (Song) throws -> Void
) throws {
  var numbers = Shuffled()
  for _ in 0..<workspace.operations {
    let edited = try song(numbers.next(below: count), of: store)
    let newTitle = title(numbers.next(below: count))
    try workspace.latencies.measure {
      edited.title = newTitle
      try follow(edited)
    }
  }
  store.discardChanges()
}
