import GRDB

extension Workspace {
  func insertPlaylists(of length: Int) throws {
    try withDatabase { queue in
      try queue.write { database in
        try putSongs(database, count)
        for index in 0..<count / length {
          let songs = (0..<length).map { Int64(($0 * 977 + index * length) % count) + 1 }
          try engine.insertPlaylist(
            database, id: Int64(index + 1), title: "Playlist \(index)", songs: songs)
        }
      }
    }
  }

  func complexFetch() throws {
    try withDatabase { queue in
      let titles = try queue.read { try engine.firstTitles($0) }
      try expect(titles.count == count / 100, "\(titles.count) titles")
      keep(titles)
    }
  }

  func listEdit() throws {
    try withDatabase { queue in
      var list = try queue.read { try engine.songList($0, playlist: 1) }
      try expect(list.songs.count == count, "\(list.songs.count) songs")
      try queue.write { try engine.move($0, &list, from: count - 1, to: count / 2) }
      keep(list)
    }
  }
}
