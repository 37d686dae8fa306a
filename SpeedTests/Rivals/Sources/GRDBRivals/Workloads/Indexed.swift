import GRDB
import WorkloadData

extension Workspace {
  func insertIndexedSongs(_ count: Int) throws {
    try withDatabase { queue in
      try queue.write { database in
        try database.create(index: "song_by_title", on: "song", columns: ["title"])
        try putSongs(database, count)
      }
    }
  }

  func indexedLookup() throws {
    try reading { database, numbers in
      let index = numbers.next(below: count * 10)
      let song = try engine.song(database, titled: "Song \(index)")
      try expect(song?.seconds == Int64(index % 600), "Song \(index) is another")
    }
  }

  func rangeFetch() throws {
    try reading { database, numbers in
      let start = "Song \(numbers.next(below: count * 900))"
      let songs = try engine.songs(database, from: start, limit: 100)
      try expect(songs.count == 100 && songs[0].title >= start, "\(songs.count) songs")
    }
  }

  func sortedPage() throws {
    try withDatabase { queue in
      try queue.read { database in
        guard let middle = try engine.song(database, id: Int64(count * 500)) else {
          throw WrongResult(description: "the song is missing")
        }
        for _ in 0..<count {
          let songs = try engine.songs(database, behind: middle, limit: 50)
          try expect(songs.count == 50, "\(songs.count) songs")
        }
      }
    }
  }

  func countRange() throws {
    try reading { database, numbers in
      let titles = [0, 1].map { _ in "Song \(numbers.next(below: count * 1_000))" }.sorted()
      let found = try engine.count(database, from: titles[0], to: titles[1])
      try expect(found > 0 || titles[0] == titles[1], "there are none")
    }
  }

  /// Runs a closure as often as the run is large, in one transaction.
  private func reading(_ body: (Database, inout Shuffled) throws -> Void) throws {
    try withDatabase { queue in
      try queue.read { database in
        var numbers = Shuffled()
        for _ in 0..<count { try body(database, &numbers) }
      }
    }
  }
}
