import FoundationEssentials
import StoredObjectsCore
import WorkloadData

private let rivalsWithIndexes: Set<String> = ["sqlite-c", "grdb", "grdb-optimised"]

/// Inserts songs with an index of their titles, in one save.
struct IndexedInsert: Workload {
  let name = "IndexedInsert"
  let summary = "insert new songs with an index of their titles, and save them once"
  let defaultCounts = [1_000_000]
  let rivals: Set<String>? = rivalsWithIndexes

  func run(_ workspace: Workspace, _ count: Int) throws { try insertIndexedSongs(workspace, count) }
}

func insertIndexedSongs(_ workspace: Workspace, _ count: Int) throws {
  try workspace.withStore(of: [IndexedSong.self]) { store in
    for index in 0..<count {
      let song = IndexedSong()
      song.title = title(index)
      song.seconds = UInt32(index % 600)
      store.insert(song)
    }
    try store.saveChanges()
  }
}

/// Looks up songs by their titles.
///
/// The count is the number of look-ups; there are ten times as many songs.
struct IndexedLookup: Workload {
  let name = "IndexedLookup"
  let summary = "look songs up by title, out of ten times as many, in random order"
  let defaultCounts = [100_000]
  let rivals: Set<String>? = rivalsWithIndexes

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertIndexedSongs(workspace, count * 10)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [IndexedSong.self]) { store in
      var numbers = Shuffled()
      for _ in 0..<count {
        let index = numbers.next(below: count * 10)
        let wanted = title(index)
        let song = try store.first(IndexedSong.self, where: \.title, is: wanted)
        try expect(song?.seconds == UInt32(index % 600), "\(wanted) is another song")
      }
    }
  }
}

/// Fetches a hundred songs in a range of titles each time.
///
/// There are a thousand times as many songs.
struct RangeFetch: Workload {
  let name = "RangeFetch"
  let summary = "fetch 100 songs between two titles, out of a thousand times as many"
  let defaultCounts = [1_000]
  let timing = Timing.inside
  let rivals: Set<String>? = rivalsWithIndexes

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertIndexedSongs(workspace, count * 1_000)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [IndexedSong.self]) { store in
      var numbers = Shuffled()
      for _ in 0..<count {
        let start = title(numbers.next(below: count * 900))
        let songs = try store.fetch(
          IndexedSong.self, where: #Predicate { $0.title >= start },
          sortedBy: [.ascending(\.title)], limit: 100)
        try expect(songs.count == 100 && songs[0].title >= start, "there are \(songs.count)")
      }
    }
  }
}

/// Fetches fifty songs from the middle of all, by title.
struct SortedPage: Workload {
  let name = "SortedPage"
  let summary = "fetch a page of 50 songs by title, behind one in the middle of 1,000 times as many"
  let defaultCounts = [1_000]
  let timing = Timing.inside
  let rivals: Set<String>? = rivalsWithIndexes

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertIndexedSongs(workspace, count * 1_000)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [IndexedSong.self]) { store in
      let middle = try store.object(IndexedSong.self, rowID: UInt32(count * 500))
      for _ in 0..<count {
        let songs = try store.fetch(
          IndexedSong.self, sortedBy: [.ascending(\.title)], limit: 50, after: middle)
        try expect(songs.count == 50, "there are \(songs.count)")
      }
    }
  }
}

/// Fetches songs far after the first, by title.
struct DeepPage: Workload {
  let name = "DeepPage"
  let summary = "fetch 20 songs by title at offsets up to the end of 1,000 times as many"
  let defaultCounts = [1_000]
  let timing = Timing.inside
  let rivals: Set<String>? = []

  func operations(_ count: Int) -> Int { 50 }

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertIndexedSongs(workspace, count * 1_000)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [IndexedSong.self]) { store in
      for part in 0..<50 {
        let songs = try store.fetch(
          IndexedSong.self, sortedBy: [.ascending(\.title)], limit: 20, offset: count * part * 20)
        try expect(songs.count == 20, "there are \(songs.count)")
      }
    }
  }
}

/// Counts the songs between two titles.
struct CountRange: Workload {
  let name = "CountRange"
  let summary = "count the songs between two titles, out of a thousand times as many"
  let defaultCounts = [1_000]
  let timing = Timing.inside
  let rivals: Set<String>? = rivalsWithIndexes

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertIndexedSongs(workspace, count * 1_000)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [IndexedSong.self]) { store in
      var numbers = Shuffled()
      for _ in 0..<count {
        let titles = [0, 1].map { _ in title(numbers.next(below: count * 1_000)) }.sorted()
        let (start, end) = (titles[0], titles[1])
        let found = try store.count(
          of: IndexedSong.self, where: #Predicate { $0.title >= start && $0.title < end })
        try expect(found > 0 || start == end, "there are none")
      }
    }
  }
}
