import StoredObjectsCore
import WorkloadData

/// Songs by their row IDs, in an order that no disk likes.
///
/// The count is that of the look-ups; there are ten times as many songs.
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
        let index = numbers.next(below: count * 10)
        let song = try store.object(Song.self, rowID: UInt32(index + 2))
        try expect(song?.seconds == UInt32(index % 600), "row \(index + 2) is another song")
      }
    }
  }
}
