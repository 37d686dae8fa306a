// The code of guides, as they have it: a test compares. It is compiled, and not run.

#if Macros
  import Foundation
  import Observation
  import StoredObjects

  /// From FindingObjects.md.
  enum FindingExamples {
    @Stored final class Artist: StoredObject {
      var name = ""
    }

    @Stored final class Song: StoredObject {
      @Indexed(folded: true) var title = ""
      @Indexed var artist: Artist?
      var genre = ""
      var seconds = 0
      var added = Date()
      var isLive = false
    }

    @Stored final class Playlist: StoredObject {
      var songs: [Song] = []
    }

    @Stored final class Play: StoredObject {
      var day = Date()
    }

    static func show(_ songs: [Song]) {}

    static func find(_ store: Store) throws {
      let songs = try store.fetch(
        Song.self, where: #Predicate { $0.seconds > 200 && $0.title.starts(with: "A") },
        sortedBy: [.ascending(\.title)], limit: 20)
      _ = songs
    }

    static func fold(_ store: Store) throws {
      let songs = try store.fetch(
        Song.self, where: #Predicate { $0.title.folded == "beyonce" },
        sortedBy: [.ascending(\.title.folded)])
      let parts = try store.fetch(
        Song.self, where: #Predicate { $0.title.localizedStandardContains("halo") })
      _ = (songs, parts)
    }

    static func sort(_ store: Store) throws {
      let index = AttributeIndex("title in Swedish", \Song.title[.swedish])

      let songs = try store.fetch(Song.self, sortedBy: [.ascending(\.title[.swedish])], limit: 50)
      _ = (index, songs)
    }

    static func pages(_ store: Store) throws {
      var page = try store.fetch(Song.self, sortedBy: [.ascending(\.title)], limit: 50)
      while let last = page.last {
        show(page)
        page = try store.fetch(Song.self, sortedBy: [.ascending(\.title)], limit: 50, after: last)
      }
    }

    static func refer(_ store: Store, _ artist: Artist, _ song: Song) throws {
      let mine = try store.fetch(
        Song.self, where: #Predicate { $0.artist == artist && $0.seconds > 200 })
      let without = try store.fetch(Song.self, where: #Predicate { $0.artist == nil })
      let lists = try store.fetch(Playlist.self, where: #Predicate { $0.songs.contains(song) })
      _ = (mine, without, lists)
    }

    static func follow(_ store: Store) throws {
      let hers = try store.fetch(Song.self, where: #Predicate { $0.artist?.name == "Nina Simone" })
      let long = try store.fetch(
        Playlist.self, where: #Predicate { $0.songs.contains { $0.seconds > 600 } })
      let live = try store.fetch(
        Playlist.self, where: #Predicate { $0.songs.allSatisfy { $0.isLive } })
      _ = (hers, long, live)
    }

    static func explain(_ store: Store) throws {
      print(try store.explain(Song.self, where: #Predicate { $0.title == "Sunny" }))
      // by "title", 3 at most: title == Sunny
    }

    static func sums(_ store: Store) throws {
      let seconds = try store.sum(of: \Song.seconds, where: #Predicate { $0.genre == "Jazz" })
      let newest = try store.maximum(of: \Song.added)
      for group in try store.groups(of: Song.self, by: \.genre, summing: \.seconds) {
        print(group.value, group.count, group.numbers.average ?? 0)
      }
      _ = (seconds, newest)
    }

    static func edit(_ store: Store, _ lastYear: Date) throws {
      try store.update(Song.self, where: #Predicate { $0.genre == "Jaz" }) { $0.genre = "Jazz" }
      try store.saveChanges()

      try store.delete(Play.self, where: #Predicate { $0.day < lastYear }, savingEvery: 1000)
    }
  }

  /// From FullTextSearch.md.
  enum SearchExamples {
    @Stored final class Song: StoredObject {
      @FullText(weight: 2) var title = ""
      @FullText var artist: String?
    }

    struct Field {
      var text = ""
    }

    static func search(_ store: Store) throws {
      for hit in try store.search(Song.self, "choi* AND NOT rock", limit: 20) {
        print(hit.object.title, hit.snippet.marked("*"))
      }
    }

    static func build(_ store: Store) throws {
      try store.buildFullTextIndexes { print($0.subject, $0.completed, "of", $0.total) }
    }

    static func queries(_ store: Store, _ field: Field) throws {
      let typed = try store.search(Song.self, .allWords(field.text, lastIsPrefix: true), limit: 10)
      let hits = try store.search(Song.self, .prefix("choi") && !.word("rock"), in: ["title"])
      _ = (typed, hits)
    }
  }

  /// From LiveQueries.md.
  enum LiveExamples {
    @Stored final class Artist: StoredObject {
      var name = ""
    }

    @Stored final class Song: StoredObject {
      var title = ""
      var plays = 0
      var artist: Artist?
      var artistName: String { artist?.name ?? "" }
    }

    final class Badge {
      var text = ""
    }

    struct Table {
      func remove(at indexes: [Int]) {}
      func insert(at indexes: [Int]) {}
      func reload(_ indexes: [Int]) {}
    }

    static func show(_ titles: [String]) {}
    static func close() {}

    static func results(_ store: Store, _ song: Song) throws {
      let hits = try store.results(
        Song.self, where: #Predicate { $0.plays > 100 }, sortedBy: [.ascending(\.title)])

      print(hits.count, hits[0].title)
      song.plays = 101  // One more hit, in its place.
      print(hits.count)
    }

    @MainActor static func observe(_ hits: LiveResults<Song>) async {
      for await titles in Observations({ hits.objects.prefix(20).map(\.title) }) { show(titles) }
    }

    static func iterate(_ hits: LiveResults<Song>) {
      for song in hits.objects { song.plays = 0 }
    }

    static func apply(_ hits: LiveResults<Song>, _ table: Table) async {
      for await change in hits.changes() {
        table.remove(at: change.removed.map(\.place.index) + change.moved.map(\.from.index))
        table.insert(at: change.inserted.map(\.place.index) + change.moved.map(\.to.index))
        table.reload(change.updated.map(\.place.index))
      }
    }

    static func sections(_ store: Store) throws {
      let songs = try store.results(
        Song.self, sortedBy: [.ascending(\.title)], sections: \.artistName)

      for section in songs.sections {
        print(section.value, section.objects.count)
      }
    }

    static func counts(_ store: Store, _ song: Song, _ badge: Badge) async throws {
      let unheard = try store.liveCount(of: Song.self, where: #Predicate { $0.plays == 0 })
      let current = try store.liveObject(song.id)

      for await count in unheard.values() { badge.text = "\(count)" }
      for await change in current.changes() where change == .deleted { close() }
    }

    static func references(_ store: Store) throws {
      let hers = try store.results(Song.self, where: #Predicate { $0.artist?.name == "Nina" })
      _ = hers
    }
  }

  /// From MigratingAStore.md.
  enum MigratingExamples {
    @Stored final class Artist: StoredObject {
      var name = ""
    }

    @Stored final class Song: StoredObject {
      var artist: Artist?
    }

    @Stored final class Mixtape: StoredObject {
      var title = ""
    }

    static func migrate(_ backend: TokyoCabinetBackend) throws {
      let migrations = [
        Migration("artists are objects") { migration in
          try migration.forEach(Song.self) { song, old in
            guard let name = try old.value("artistName", as: String.self) else { return }
            let known = try migration.store.first(
              Artist.self, where: #Predicate { $0.name == name })
            let artist = known ?? Artist()
            if known == nil {
              artist.name = name
              migration.store.insert(artist)
            }
            song.artist = artist
          }
        },
        .rename("Playlist", to: "Mixtape"),
        .retire("Genre"),
      ]

      let store = Store(backend: backend)
      try store.migrate(migrations, registering: [Song.self, Artist.self, Mixtape.self])
    }

    static func values(_ old: StoredRecord, _ migration: MigrationContext) throws {
      let name = try old.value("artistName", as: String.self)  // nil if this record doesn't have it
      let genre = try old.id("genre")  // the ID of the object that it refers to
      let rank = try genre.flatMap { try migration.record($0) }?.value("rank", as: Int.self)
      _ = (name, rank)
    }

    static func rehearse(_ migrations: [Migration]) throws {
      let backend = try TokyoCabinetBackend(
        directory: "Music", configuration: .init(access: .readOnly))
      print(try backend.rehearse(migrations, registering: [Song.self, Artist.self, Mixtape.self]))
    }
  }
#endif
