// The code of guides, as they have it: a test compares. It is compiled, and not run.

#if Macros
  import Foundation
  import Observation
  import StoredObjects

  /// From GettingStarted.md.
  enum StartingExamples {
    @Stored final class Song: StoredObject {
      var title = ""
      var seconds = 0
      var playCount = 0

      convenience init(title: String) {
        self.init()
        self.title = title
      }
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      var songs: [Song] = []
    }

    static func open() throws {
      let backend = try TokyoCabinetBackend(directory: "Music")
      let store = Store(backend: backend)
      try store.register(Song.self, Playlist.self)
    }

    static func edit(_ store: Store) throws {
      let song = Song(title: "Walking on Sunshine")
      let playlist = Playlist()
      playlist.songs = [song, song]
      store.insert(song)
      store.insert(playlist)
      try store.saveChanges()

      playlist.songs.removeLast()
      try store.saveChanges()

      store.delete(playlist)
      store.discardChanges()  // keeps the playlist
    }

    static func fetch(_ store: Store, _ song: Song) throws {
      let all = try store.allObjects(of: Song.self)
      let one = try store.object(song.id)

      var songs = try store.cursor(over: Song.self)
      while let song = try songs.next() { print(song.title) }
      _ = (all, one)
    }

    static func name(_ store: Store, _ song: Song) throws {
      try store.setBuffer(named: "Favorites") { $0.write([song]) }
      var buffer = try store.buffer(named: "Favorites")
      let favorites = try buffer?.readObjects(of: Song.self)
      _ = favorites
    }

    static func close(_ backend: TokyoCabinetBackend) throws {
      try backend.close()
    }
  }

  /// From KeepingAHistory.md.
  enum HistoryExamples {
    @Stored final class Song: StoredObject {
      var title = ""
      var seconds = 0
      var playCount = 0

      convenience init(title: String) {
        self.init()
        self.title = title
      }
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      var songs: [Song] = []
    }

    static func begin() throws {
      let backend = try TokyoCabinetBackend(directory: "Music")
      try backend.beginHistory()
    }

    static func read(_ store: Store, _ lastSeen: inout UInt64) throws {
      for commit in try store.history(after: lastSeen, of: [Song.self]) {
        for change in commit.changes {
          print(commit.commit.author, change.kind, change.id, change.changedProperties)
          print(change.old?["title"] as Any, change.new?["title"] as Any)
        }
        lastSeen = commit.commit.number
      }
    }

    static func look(_ backend: TokyoCabinetBackend, _ date: Date) throws {
      let monday = try backend.snapshot(asOf: backend.commitNumber(at: date))
      let store = Store(backend: monday)
      _ = store
    }

    static func revert(_ backend: TokyoCabinetBackend) throws {
      try backend.revert(toCommit: 16, author: "Ann")
    }

    static func undo(_ store: Store) throws {
      if let mine = try store.history(authors: ["Ann"]).last {
        try store.undo(commit: mine.commit.number)
        try store.saveChanges()
      }
    }

    static func purge(_ backend: TokyoCabinetBackend, _ lastSeen: UInt64) throws {
      try backend.purgeHistory(through: lastSeen)
      try backend.purgeHistory(keeping: HistoryRetention(age: .seconds(14 * 86_400)))
      try backend.endHistory()
    }

    static func consume(_ backend: TokyoCabinetBackend, _ lastSeen: UInt64) throws {
      try backend.noteHistorySeen(by: "search engine", through: lastSeen)
    }
  }

  /// From UndoAndRedo.md.
  enum UndoExamples {
    @Stored final class Song: StoredObject {
      var title = ""
      var seconds = 0
      var playCount = 0

      convenience init(title: String) {
        self.init()
        self.title = title
      }
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      var songs: [Song] = []
    }

    static func undo(_ store: Store, _ playlist: Playlist) throws {
      store.undoManager = StoreUndoManager(levelsOfUndo: 50)

      store.undoManager?.group("Delete Playlist") { store.delete(playlist) }
      try store.undoManager?.undo()
      try store.undoManager?.redo()
    }

    static func save(_ store: Store) throws {
      store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo", levelsOfUndo: 20)
    }
  }

  /// From ObservingAStore.md.
  enum ObservingExamples {
    @Stored final class Song: StoredObject {
      var title = ""
      var seconds = 0
      var playCount = 0

      convenience init(title: String) {
        self.init()
        self.title = title
      }
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      var songs: [Song] = []
    }

    static func show(_ title: String) {}
    static func index(_ song: Song?) {}

    @MainActor static func observe(_ store: Store, _ song: Song) async {
      store.isObservable = true
      for await title in Observations({ song.title }) { show(title) }
    }

    static func listen(_ store: Store) async throws {
      for await changes in store.committedChanges() {
        for rowID in changes[Song.self].inserted {
          index(try store.object(Song.self, rowID: rowID))
        }
      }
    }
  }

  /// From StoringLargeValues.md.
  enum ValueExamples {
    @Stored final class Song: StoredObject {
      var title = ""
      var cover = ExternalData()
      var recording: ExternalData?
    }

    @Stored final class Album: StoredObject {
      @External(above: 4096) var cover = ExternalData()  // outside from 4 KiB on
      @External(above: 1 << 20) var text: ExternalData?  // in the record up to 1 MiB
    }

    static func send(_ bytes: [UInt8]) {}

    static func cover(_ store: Store, _ song: Song, _ picture: Data) throws {
      song.cover = ExternalData(picture)
      try store.saveChanges()

      let picture = try song.cover.data()  // read here, and not with the song
      _ = picture
    }

    static func stream(
      _ store: Store, _ song: Song, _ upload: AsyncStream<[UInt8]>
    ) async throws {
      let writer = try store.makeExternalWriter()
      for try await chunk in upload { try writer.write(chunk) }
      song.recording = try writer.finish()
      try store.saveChanges()

      if var reader = try song.recording?.reader() {
        while let chunk = try reader.next() { send(chunk) }
      }
    }
  }

  /// From ExportingAndImportingJSON.md.
  enum JSONExamples {
    @Stored final class Song: StoredObject {
      var title = ""
      var seconds = 0
      var playCount = 0

      convenience init(title: String) {
        self.init()
        self.title = title
      }
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      var songs: [Song] = []
    }

    static func files(_ store: Store) throws {
      try store.exportJSON(to: "Music.jsonl")
      try store.exportJSON(to: "Songs.jsonl", classes: [Song.self])

      try store.importJSON(from: "Music.jsonl")
      try store.importJSON(from: "Seed.jsonl", mode: .newIDs)
    }

    static func values(_ store: Store, _ song: Song) throws {
      let value = try song.value()
      print(value["title"] as Any)  // "Sunny"
      let data = try JSONEncoder().encode(value)

      let other = try JSONDecoder().decode(ObjectValue.self, from: data)
      try store.insertOrUpdate(other)
    }
  }
#endif
