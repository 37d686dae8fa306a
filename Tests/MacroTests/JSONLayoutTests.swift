#if Macros
  import Foundation
  import StoredObjects
  import StoredObjectsTestSupport
  import TestFiles
  import Testing

  @Suite("JSON of earlier programs")
  struct JSONLayoutTests {
    /// Exports a tune of the first program, and lets a later one import it.
    private func run(
      _ type: StoredObject.Type, _ body: (Store, String) throws -> Void
    ) throws {
      try withTemporaryDirectory { directory in
        let path = directory + "/tunes.jsonl"
        try Session.run(MemoryDisk(), Drafts.Tune.self) { session in
          let tune = Drafts.Tune()
          (tune.title, tune.artist, tune.seconds) = ("Sunny", "Ada", 300)
          (tune.plays, tune.mood) = (7, .wild)
          try session.save(tune)
          try session.store.exportJSON(to: path)
        }
        try Session.run(MemoryDisk(), type) { try body($0.store, path) }
      }
    }

    @Test("Properties are found by their names, as in records")
    func grown() throws {
      try run(Grown.Tune.self) { store, path in
        try store.importJSON(from: path)
        let tune = try #require(try store.object(Grown.Tune.self, rowID: 2))
        #expect(tune.name == "Sunny" && tune.seconds == 300 && tune.plays == 7)
        #expect(tune.mood == .wild && tune.note == "none")
      }
    }

    @Test("Values are converted as in records")
    func converted() throws {
      try run(Converted.Tune.self) { store, path in
        try store.importJSON(from: path)
        #expect(try store.object(Converted.Tune.self, rowID: 2)?.minutes == 5)
      }
    }

    @Test("A change that could lose data is refused, and so is a line without all properties")
    func refused() throws {
      try run(Refused.Tune.self) { store, path in
        let error = #expect(throws: StoreError.self) { try store.importJSON(from: path) }
        #expect(error?.code == .changedLayout && error?.location.line == 1)
        let count = try store.count(of: Refused.Tune.self)
        #expect(count == 0)
      }
      try run(Grown.Tune.self) { store, path in
        let text = try String(contentsOfFile: path, encoding: .utf8)
          .replacingOccurrences(of: #""artist":"Ada","#, with: "")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) { try store.importJSON(from: path) }
        #expect(error?.code == .invalidValue && error?.location.property == "artist")
      }
    }

    @Test("The tool exports records of each layout, and the program imports them all")
    func mixed() throws {
      let disk = MemoryDisk()
      try Session.run(disk, Drafts.Tune.self) { session in
        let tune = Drafts.Tune()
        tune.title = "old"
        try session.save(tune)
      }
      try Session.run(disk, Grown.Tune.self) { session in
        let tune = Grown.Tune()
        tune.name = "new"
        try session.save(tune)
      }
      try withTemporaryDirectory { directory in
        let path = directory + "/tunes.jsonl"
        let backend = try MemoryBackend(disk: disk)
        let export = try RecordExport(backend)
        try withNewFile(path) { write in
          _ = try export.exportJSON(export.classes, progress: { _ in }, write: write)
        }
        try Session.run(MemoryDisk(), Grown.Tune.self) { session in
          try session.store.importJSON(from: path)
          #expect(try session.store.allObjects(of: Grown.Tune.self).map(\.name) == ["old", "new"])
        }
        try Session.run(MemoryDisk(), Drafts.Tune.self) { session in
          let error = #expect(throws: StoreError.self) { try session.store.importJSON(from: path) }
          #expect(error?.code == .newerVersion || error?.code == .changedLayout)
        }
      }
    }
  }
#endif
