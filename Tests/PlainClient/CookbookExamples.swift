// The code of the cookbook, as the page has it: a test compares. It is compiled, and not run.

#if Macros
  import Foundation
  import KeyValueStore
  import StoredObjects

  enum CookbookExamples {
    @Stored final class Song: StoredObject {
      @Indexed(unique: true) var code: String?
      @FullText var title = ""
      @Indexed var artist = ""
      @Indexed var removedAt: Date?
      var genre: Genre = .pop
      var seconds = 0
      var playCount = 0
      var recording: ExternalData?
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      @Relationship @Indexed var songs: [Song] = []
    }

    enum Genre: String, DataBufferValue, IndexableValue {
      case pop, jazz, folk
    }

    @Stored final class Folder: StoredObject {
      var name = ""
      var parent: Folder?
      @Relationship(deleteRule: .cascade, inverse: \Folder.parent) var children: [Folder] = []
    }

    struct SongInfo: Codable, Sendable {
      var code: String
      var title: String
      var artist: String
    }

    static func show(_ songs: [Song]) {}
    static func show(_ count: Int) {}
    static func send(_ bytes: [UInt8]) {}
  }

  /// Relationships and unique values.
  extension CookbookExamples {
    static func orderedList(_ playlist: Playlist, _ sunny: Song, _ halo: Song) {
      playlist.songs = [sunny, halo, sunny]
      playlist.songs.append(halo)
      playlist.songs.insert(sunny, at: 1)
      playlist.songs.removeLast()
    }

    static func reorder(_ playlist: Playlist, from: Int, to: Int) {
      let song = playlist.songs.remove(at: from)
      playlist.songs.insert(song, at: to)
    }

    static func playlists(_ store: Store, with song: Song) throws -> [Playlist] {
      let playlists = try store.referrers(of: song, through: \Playlist.songs)
      return playlists
    }

    static func unique(_ store: Store, _ new: Song) throws {
      store.insert(new)
      do {
        try store.saveChanges()
      } catch {
        guard error.code == .notUnique else { throw error }
        store.delete(new)  // the store has such a song
      }
    }

    static func upsert(_ store: Store, _ info: SongInfo) throws {
      let known = try store.first(Song.self, where: \.code, is: info.code)
      let song = known ?? Song()
      song.code = info.code
      song.title = info.title
      song.artist = info.artist
      if known == nil { store.insert(song) }
      try store.saveChanges()
    }

    static func tree(_ store: Store, _ folder: Folder) throws {
      let inner = Folder()
      inner.name = "1984"
      store.insert(inner)
      folder.children.append(inner)  // inner.parent is folder now
      store.delete(folder)  // and with it all that is in it
      try store.saveChanges()
    }
  }

  /// Many objects.
  extension CookbookExamples {
    static func bulkImport(_ container: StoreContainer, _ infos: [SongInfo]) async throws {
      try await container.makeActor().perform { store in
        for (number, info) in infos.enumerated() {
          let song = Song()
          song.code = info.code
          song.title = info.title
          song.artist = info.artist
          store.insert(song)
          if number % 1000 == 999 { try store.saveChanges() }
        }
        try store.saveChanges()
      }
    }

    static func pages(_ store: Store, after last: Song?) throws -> [Song] {
      let page = try store.fetch(
        Song.self, where: #Predicate { $0.removedAt == nil },
        sortedBy: [.ascending(\.artist)], limit: 50, after: last)
      return page
    }

    static func search(_ store: Store, _ text: String) throws {
      let hits = try store.search(Song.self, .allWords(text, lastIsPrefix: true), limit: 20)
      for hit in hits { print(hit.object.artist, hit.snippet.marked("*")) }
    }

    static func softDelete(_ store: Store, _ song: Song) throws {
      song.removedAt = Date()
      try store.saveChanges()

      let present = try store.fetch(Song.self, where: #Predicate { $0.removedAt == nil })
      show(present)

      let limit = Date(timeIntervalSinceNow: -30 * 86_400)
      try store.delete(
        Song.self, where: #Predicate { ($0.removedAt ?? limit) < limit }, savingEvery: 1000)
    }

    static func edit(_ store: Store) throws {
      let count = try store.update(Song.self, where: #Predicate { $0.artist == "Nina" }) {
        $0.artist = "Nina Simone"
      }
      try store.saveChanges()
      show(count)
    }

    static func report(_ store: Store) throws {
      let seconds = try store.sum(of: \Song.seconds)
      print("\(seconds / 3600) hours")
      for group in try store.groups(of: Song.self, by: \.artist, summing: \.seconds) {
        print(group.value, group.count, group.numbers.sum)
      }
    }

    static func scan(_ store: Store) throws -> Int {
      var longest = 0
      var songs = try store.cursor(over: Song.self)
      while let song = try songs.next() { longest = max(longest, song.seconds) }
      return longest
    }
  }

  /// Saves and tasks.
  extension CookbookExamples {
    static func transaction(_ store: Store, _ from: Playlist, _ to: Playlist) throws {
      try store.transaction {
        to.songs += from.songs
        from.songs = []
      }
    }

    static func write(_ container: StoreContainer, _ id: ObjectID<Song>) async throws {
      try await container.write { store in
        guard let song = try store.object(id) else { return }
        song.playCount += 1
      }
    }

    static func autosave(_ container: StoreContainer) -> StoreActor {
      let editor = container.makeActor(
        autosave: .after(.seconds(2)) { store, error in
          print("Not saved: \(error)")
          if error.code == .conflict { store.discardChanges() }
        })
      return editor
    }

    static func undo(_ store: Store, _ playlist: Playlist) throws {
      let undoManager = StoreUndoManager()
      store.undoManager = undoManager
      undoManager.group("Delete Playlist") { store.delete(playlist) }
      try undoManager.undo()
      try store.saveChanges()
    }

    @MainActor static func liveList(_ store: Store) async throws {
      let songs = try store.results(
        Song.self, where: #Predicate { $0.removedAt == nil }, sortedBy: [.ascending(\.artist)])
      show(Array(songs.objects.prefix(50)))
      for await _ in songs.changes() { show(songs.count) }
    }

    static func share() throws -> Store {
      var configuration = TokyoCabinetBackend.Configuration()
      configuration.sharing = .processes
      let backend = try TokyoCabinetBackend(directory: "Music", configuration: configuration)
      let store = Store(backend: backend, configuration: .init(conflictPolicy: .merge))
      try store.register(Song.self, Playlist.self)
      return store
    }

    static func sync(
      _ container: StoreContainer, _ lastSeen: UInt64
    ) async throws -> UInt64 {
      try await container.makeActor().perform { store in
        var lastSeen = lastSeen
        for commit in try store.history(after: lastSeen, of: [Song.self]) {
          for change in commit.changes { print(change.kind, change.id) }
          lastSeen = commit.commit.number
        }
        return lastSeen
      }
    }

    static func backUp(_ container: StoreContainer, _ day: String) async throws {
      try await container.withBackend { backend in
        guard let backend = backend as? any DirectoryBackend else { return }
        try backend.backup(to: "Backups/Music \(day)") { _ in }
      }
    }
  }

  /// Values of other kinds.
  extension CookbookExamples {
    static func largeValue(_ store: Store, _ song: Song, _ chunks: [[UInt8]]) throws {
      let writer = try store.makeExternalWriter()
      for chunk in chunks { try writer.write(chunk) }
      song.recording = try writer.finish()
      try store.saveChanges()

      guard var reader = try song.recording?.reader() else { return }
      while let chunk = try reader.next() { send(chunk) }
    }

    static func cache(_ response: SongInfo) throws -> SongInfo? {
      let store = try KeyValueStore(named: "Cache")
      let responses = try store.createTable("responses")
      try responses.put(response, for: "songs/42", expiresAfter: .seconds(3600))
      let cached = try responses.get("songs/42", as: SongInfo.self)  // nil after an hour
      return cached
    }

    static func counter(_ store: KeyValueStore, _ settings: KeyValueTable) throws {
      try store.write { batch in
        let launches = try batch.get("launches", from: settings, as: Int.self) ?? 0
        try batch.put(launches + 1, for: "launches", in: settings)
      }
    }

    static func setting(_ store: Store, _ favorite: Song) throws -> Song? {
      try store.setBuffer(named: "Favorite") { $0.write(favorite) }
      try store.saveChanges()
      var buffer = try store.buffer(named: "Favorite")
      let song = try buffer?.readObject(of: Song.self)
      return song
    }

    static func test() throws -> Int {
      let store = Store(backend: try MemoryBackend())
      try store.register(Song.self, Playlist.self)
      store.insert(Song())
      try store.saveChanges()
      let count = try store.count(of: Song.self)
      return count
    }
  }
#endif
