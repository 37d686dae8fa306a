import StoredObjectsCore
import WorkloadData

/// Fetches songs by their row IDs, in an order that is bad for disks.
///
/// The count is the number of look-ups; there are ten times as many songs.
struct RandomFetch: Workload {
  let name = "RandomFetch"
  let summary = "look songs up by row ID, out of ten times as many, in random order"
  let defaultCounts = [100_000]

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertSongs(workspace, count * 10)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      var numbers = Shuffled()
      for _ in 0..<count {
        _ = try song(numbers.next(below: count * 10), of: store)
      }
    }
  }
}
