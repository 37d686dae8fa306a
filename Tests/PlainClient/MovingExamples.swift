// The code of the pages for users of other products, as they have it: a test compares. It is
// compiled, and not run.

#if Macros
  import Foundation
  import Observation
  import StoredObjects

  enum MovingExamples {
    @Stored final class Song: StoredObject {
      @Indexed var title = ""
      @Indexed var seconds = 0
      var playlists: [Playlist] = []
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      @Relationship(deleteRule: .nullify, inverse: \Song.playlists) var songs: [Song] = []
    }

    static func show(_ titles: [String]) {}
  }

  /// The file that is written there, and read here.
  extension MovingExamples {
    struct Line<Values: Encodable>: Encodable {
      var id: String
      var values: Values
    }

    struct SongValues: Encodable {
      var title: String
      var seconds: Int
    }

    struct PlaylistValues: Encodable {
      var title: String
      var songs: [String]
    }

    static func write(_ line: some Encodable, to file: FileHandle) throws {
      try file.write(contentsOf: JSONEncoder().encode(line) + Data("\n".utf8))
    }

    static func importFile(_ store: Store) throws -> Int {
      let count = try store.importJSON(from: "Music.jsonl", mode: .newIDs)
      return count
    }
  }

  extension MovingExamples {
    static func open() throws -> (StoreContainer, Store) {
      let backend = try TokyoCabinetBackend(directory: "Music")
      let container = try StoreContainer(backend: backend, classes: [Song.self, Playlist.self])
      let store = try container.makeStore()
      return (container, store)
    }

    static func insert(_ store: Store) throws {
      let song = Song()
      song.title = "Sunny"
      let playlist = Playlist()
      playlist.title = "Holiday"
      playlist.songs = [song, song]  // order and repeats are kept
      store.insert(song)
      store.insert(playlist)
      try store.saveChanges()
    }

    static func fetch(_ store: Store, _ playlist: Playlist) throws -> ([Song], [Song]) {
      let long = try store.fetch(
        Song.self, where: #Predicate { $0.seconds > 300 }, sortedBy: [.ascending(\.title)],
        limit: 20)
      let songs = playlist.songs
      return (long, songs)
    }

    static func fetchValues(_ container: StoreContainer) async throws -> [String] {
      let titles = try await container.read { store in
        try store.fetch(
          Song.self, where: #Predicate { $0.seconds > 300 }, sortedBy: [.ascending(\.title)],
          limit: 20
        ).map(\.title)
      }
      return titles
    }

    static func write(_ container: StoreContainer, _ id: ObjectID<Song>) async throws {
      try await container.write { store in
        guard let song = try store.object(id) else { return }
        song.title = "Sunny Afternoon"
      }
    }

    static func importTitles(_ container: StoreContainer, _ titles: [String]) async throws {
      try await container.makeActor().perform { store in
        for title in titles {
          let song = Song()
          song.title = title
          store.insert(song)
        }
        try store.saveChanges()
      }
    }

    @MainActor static func follow(_ store: Store) async throws {
      let songs = try store.results(Song.self, sortedBy: [.ascending(\.title)])
      for await titles in Observations({ songs.objects.prefix(20).map(\.title) }) { show(titles) }
    }

    @MainActor static func merge(_ store: Store) {
      store.mergeAutomatically()
    }
  }
#endif
