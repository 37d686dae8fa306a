import StoredObjectsCore
import WorkloadData

/// Makes many saves to a large store, each of which is measured.
///
/// The count is the number of songs in the store. The latency of a save includes the changes of the
/// songs, and not the reading of them.
struct SustainedSaves: Workload {
  let name = "SustainedSaves"
  let summary = "read 100 songs in random order, change their titles, save; 3,000 times"
  let defaultCounts = [1_000_000]
  let durabilities: [Durability] = [.full, .process]
  let defaultOperations: Int? = 3_000
  let timing = Timing.inside
  let rivals: Set<String>? = ["sqlite-c", "lmdb-c"]

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertSongs(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      try changeSongs(store, of: count, saves: workspace.operations) { save in
        try workspace.latencies.measure(save)
      }
    }
  }
}

/// Reads 100 songs in random order, changes their titles and saves, a number of times.
///
/// - Parameters:
///   - store: A store of songs.
///   - count: The number of songs in it.
///   - saves: The number of saves.
///   - perform: Called with each save, which it runs.
/// - Throws: An error of the store, or ``WrongResult``.
func changeSongs(
  _ store: Store, of count: Int, saves: Int, _ perform: (_ save: () throws -> Void) throws -> Void
) throws {
  var numbers = Shuffled()
  for save in 0..<saves {
    let songs = try (0..<100).map { _ in try song(numbers.next(below: count), of: store) }
    try perform {
      for song in songs { song.title = "A song of save \(save)" }
      try store.saveChanges()
    }
  }
}
