import StoredObjectsCore

/// New songs, one save.
struct SimpleInsert: Workload {
  let name = "SimpleInsert"
  let summary = "insert new songs and save them once"
  let defaultCounts = [1_000_000]

  func run(_ place: Place, _ count: Int) throws {
    try insertSongs(place, count)
  }
}

func insertSongs(_ place: Place, _ count: Int) throws {
  try place.withStore(expecting: count) { store in
    for index in 0..<count {
      let song = Song()
      song.title = title(index)
      song.seconds = UInt32(index % 600)
      store.insert(song)
    }
    try store.saveChanges()
  }
}
