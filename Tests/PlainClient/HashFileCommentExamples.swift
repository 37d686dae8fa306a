// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import TokyoCabinetFile

  enum HashFileComments {
    static var songs: [(key:[UInt8],value:[UInt8])] = notRun()

    /// From HashFile.swift.
    static func hashFileExample() throws {
      let songs = try HashFile("Song")
      try songs.forEach { key, value in print(key.byteCount, value.byteCount) }
      let title = try songs.value(forKey: [2, 0, 0, 0])
      _ = (songs, title)
    }

    /// From HashFileCheck.swift.
    static func hashFileCheckExample() throws {
      let check = try HashFile("Song").check()
      for finding in check.findings { print(finding) }
      _ = check
    }

    /// From HashFileError.swift.
    static func hashFileErrorExample() throws {
      do {
        print(try HashFile("Song").count)
      } catch {
        guard error.code == .truncated else { throw error }
        print("Copy the file again: \(error)")
      }
    }

    /// From HashFileSalvage.swift.
    static func hashFileSalvageExample() throws {
      var salvage = try HashFileSalvage("Song")
      salvage.run { key, value, record in print(record.offset) }
      for gap in salvage.gaps { print("lost: \(gap)") }
      _ = salvage
    }

    /// From HashFileWriter.swift.
    static func hashFileWriterExample() throws {
      var plan = try HashFilePlan(layout: HashFileLayout(bucketCount: 400_000), path: "Song")
      for song in songs { try plan.add(key: song.key.span.bytes, valueCount: song.value.count) }
      let writer = try HashFileWriter("Song", plan)
      for song in songs { try writer.append(key: song.key, value: song.value) }
      try writer.finish(synchronized: true)
      _ = (plan, writer)
    }
  }
#endif
