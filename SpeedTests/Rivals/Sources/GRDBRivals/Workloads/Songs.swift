import GRDB

extension Workspace {
  func insertSongs(_ count: Int) throws {
    try withDatabase { queue in
      try queue.write { try putSongs($0, count) }
    }
  }

  func putSongs(_ database: Database, _ count: Int) throws {
    for index in 0..<count { try putSong(database, index) }
  }

  func putSong(_ database: Database, _ index: Int) throws {
    try engine.insertSong(
      database, id: Int64(index + 1), title: "Song \(index)", seconds: Int64(index % 600))
  }

  func simpleFetch() throws {
    try withDatabase { queue in
      let songs = try queue.read { try engine.allSongs($0) }
      try expect(songs.count == count, "\(songs.count) songs")
      try expect(songs.last?.title == "Song \(count - 1)", "the last song is another")
      keep(songs)
    }
  }

  func simpleScan() throws {
    try withDatabase { queue in
      var seconds = 0
      try queue.read { try engine.eachSong($0) { seconds += Int($0.seconds) } }
      let expected = (0..<count).reduce(0) { $0 + $1 % 600 }
      try expect(seconds == expected, "\(seconds) seconds")
    }
  }

  func simpleUpdate() throws {
    try withDatabase { queue in
      var songs = try queue.read { try engine.allSongs($0) }
      try expect(songs.count == count, "\(songs.count) songs")
      try queue.write { database in
        for index in stride(from: 0, to: count, by: 3) {
          songs[index].title += " again"
          try engine.update(database, songs[index])
        }
      }
      keep(songs)
    }
  }

  func smallSaves() throws {
    try withDatabase { queue in
      for index in 0..<count { try queue.write { try putSong($0, index) } }
    }
  }

  func largeStoreSave() throws {
    try withDatabase { queue in
      guard var song = try queue.read({ try engine.song($0, id: Int64(count / 2 + 1)) }) else {
        throw WrongResult(description: "the song is missing")
      }
      song.title += " again"
      try queue.write { [song] in try engine.update($0, song) }
    }
  }

  func growth() throws {
    try insertSongs(count)
    try simpleScan()
  }
}
