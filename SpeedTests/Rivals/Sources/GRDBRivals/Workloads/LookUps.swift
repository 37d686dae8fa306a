import GRDB
import WorkloadData

extension Workspace {
  func randomFetch() throws {
    try withDatabase { queue in
      try queue.read { database in
        var numbers = Shuffled()
        for _ in 0..<count { try lookUp(database, numbers.next(below: count * 10)) }
      }
    }
  }

  func openClose() throws {
    try withDatabase { queue in
      try queue.read { try lookUp($0, count / 2) }
    }
  }

  private func lookUp(_ database: Database, _ index: Int) throws {
    let song = try engine.song(database, id: Int64(index + 1))
    try expect(song?.seconds == Int64(index % 600), "song \(index) is another")
  }
}
