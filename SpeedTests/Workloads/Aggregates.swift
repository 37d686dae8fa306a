import StoredObjectsCore
import WorkloadData

/// A song with an index of its artist and its plays together.
final class PlayedSong: StoredObject {
  @Content var title = ""
  @Content var artist = ""
  @Content var plays = 0

  override class var indexes: [AttributeIndex] {
    [AttributeIndex("artist and plays", \PlayedSong.artist, \PlayedSong.plays)]
  }

  override class var isCodedOnAnyThread: Bool { true }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    artist = try buffer.readString()
    plays = try buffer.readInt()
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(artist)
    buffer.write(plays)
  }
}

/// Sums up the plays of each artist, as the statistics of a server do.
///
/// Each artist has fifty songs. A part of the songs was played since the last checkpoint.
struct GroupedSums: Workload {
  let name = "GroupedSums"
  let summary = "count the songs and sum up the plays of each artist, of 50 songs each"
  let defaultCounts = [100_000]
  let timing = Timing.inside
  let rivals: Set<String>? = []

  func operations(_ count: Int) -> Int { 20 }

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [PlayedSong.self]) { store in
      for index in 0..<count {
        let song = PlayedSong()
        song.title = title(index)
        song.artist = artist(index % (count / 50))
        store.insert(song)
      }
      try store.saveChanges()
    }
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [PlayedSong.self]) { store in
      var numbers = Shuffled()
      var plays = 0
      for round in 0..<20 {
        // The second half of the rounds finds plays that are not in the file of the index yet.
        if round >= 10 {
          for _ in 0..<100 {
            let row = UInt32(numbers.next(below: count) + 2)
            try store.object(PlayedSong.self, rowID: row)?.plays += 1
            plays += 1
          }
          try store.saveChanges()
        }
        try workspace.latencies.measure {
          let groups = try store.groups(of: PlayedSong.self, by: \.artist, summing: \.plays)
          let sum = groups.reduce(0) { $0 + $1.numbers.sum }
          try expect(
            groups.count == count / 50 && abs(sum - plays) <= 10, "the sum is \(sum), not \(plays)")
        }
      }
    }
  }
}

/// Returns the name of an artist.
private func artist(_ index: Int) -> String { "Artist \(index)" }
