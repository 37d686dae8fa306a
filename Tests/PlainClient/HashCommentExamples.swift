// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import TokyoCabinet

  enum HashComments {
    static var songs: HashDatabase = notRun()

    /// From HashCursor.swift.
    static func hashCursorExample() throws {
      var cursor = songs.makeCursor()
      while let record = try cursor.next() { print(record.key, record.value.count) }
      _ = cursor
    }

    /// From HashDatabase.swift.
    static func hashDatabaseExample() throws {
      let songs = try HashDatabase(path: "Song", mode: .readWrite([.create]))
      try songs.put(key: [2, 0, 0, 0], value: Array("Für Elise".utf8))
      let title = try songs.value(forKey: [2, 0, 0, 0])
      try songs.close()
      _ = (songs, title)
    }

    /// From TokyoCabinetError.swift.
    static func tokyoCabinetErrorExample() throws {
      do {
        print(try HashDatabase(path: "Song").count)
      } catch let error as TokyoCabinetError where error.code == .inUse {
        print("Quit the other program first: \(error)")
      }
    }
  }
#endif
