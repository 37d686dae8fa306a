import StoredObjectsCore
import WorkloadData

/// Many saves to a large store, one after the other: how long each takes, and the longest.
///
/// The count is that of the songs in it. The time of a save is that of changing the songs and saving
/// them; they are read before.
struct SustainedSaves: Workload {
  let name = "SustainedSaves"
  let summary = "read 100 songs in random order, change their titles, save; 3,000 times"
  let defaultCounts = [1_000_000]
  let durabilities: [Durability] = [.full, .process]
  let defaultOperations: Int? = 3_000
  let timing = Timing.inside
  let rivals: Set<String>? = ["sqlite-c", "lmdb-c"]
  private let songsEach = 100

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      var numbers = Shuffled()
      for save in 0..<workspace.operations {
        let songs = try (0..<songsEach).map { _ in
          try song(numbers.next(below: count), of: store)
        }
        try workspace.latencies.measure {
          for song in songs { song.title = "A song of save \(save)" }
          try store.saveChanges()
        }
      }
    }
  }
}
