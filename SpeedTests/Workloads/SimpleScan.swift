import StoredObjectsCore

/// Visits all songs one after another and keeps none, to measure the memory of an iteration.
struct SimpleScan: Workload {
  let name = "SimpleScan"
  let summary = "visit all songs and keep none"
  let defaultCounts = [1_000_000]

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      var seconds = 0
      var songs = try store.cursor(over: Song.self)
      while let song = try songs.next() { seconds += Int(song.seconds) }
      let expected = (0..<count).reduce(0) { $0 + $1 % 600 }
      try expect(seconds == expected, "\(seconds) seconds")
    }
  }
}
