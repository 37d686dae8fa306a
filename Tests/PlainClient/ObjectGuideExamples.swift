// The code of guides, as they have it: a test compares. It is compiled, and not run.

#if Macros
  import Foundation
  import StoredObjects

  /// From CheckingAndRepairing.md.
  enum CheckingExamples {
    static func check(_ store: Store) throws {
      let check = try store.check()
      for finding in check.findings { print(finding) }
    }

    static func back(_ backend: TokyoCabinetBackend) throws {
      try backend.backup(to: "Music 2026-11-21")
    }

    static func salvage() throws {
      let report = try TokyoCabinetBackend.salvage(from: "Music", to: "Music salvaged")
      for loss in report.losses { print(loss) }
    }
  }

  /// From ErrorsAndWhatToDo.md.
  enum ErrorExamples {
    static func save(_ store: Store) throws {
      do {
        try store.saveChanges()
      } catch {
        switch error.code {
        case .noSpace: print("No room left: \(error)")
        case .conflict: store.discardChanges()
        default: throw error
        }
      }
    }
  }

  /// From FaultsAndFailures.md.
  enum FaultExamples {
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

    static func read(_ song: Song, _ playlist: Playlist) throws {
      do {
        try song.fetchContent()
      } catch {
        guard error.code == .recordMissing else { throw error }
        playlist.songs.removeAll { $0 == song }
      }
    }

    static func delete(_ store: Store, _ failure: FetchFailure) throws {
      try store.delete(Song.self, rowID: failure.rowID)
    }
  }

  /// From ChangingAClass.md.
  enum CaseExamples {
    enum Genre: UInt8, DataBufferValue {
      case jazz, folkMusic
      static var formerCaseNames: [String: String] { ["folk": "folkMusic"] }
    }
  }

  /// From Relationships.md.
  enum InverseExamples {
    @Stored final class Playlist: StoredObject {
      var title = ""
      @Relationship(deleteRule: .nullify, inverse: \Song.playlists) var songs: [Song] = []
    }
    @Stored final class Song: StoredObject {
      var title = ""
      var playlists: [Playlist] = []
    }
  }

  /// From Relationships.md.
  enum RelationshipExamples {
    @Stored final class Song: StoredObject {
      @Unique var number = 0
      var playlists: [Playlist] = []

      convenience init(number: Int) {
        self.init()
        self.number = number
      }
    }

    @Stored final class Playlist: StoredObject {
      @Relationship(deleteRule: .nullify, inverse: \Song.playlists) var songs: [Song] = []
    }

    static func edit(_ playlist: Playlist, _ a: Song, _ b: Song) {
      playlist.songs = [a, b, a]  // a.playlists == [playlist, playlist]
      a.playlists = []  // playlist.songs == [b]
    }

    static func unique(_ store: Store) throws {
      let song = try store.insertOrUpdate(Song(number: 42))
      let same = try store.object(Song.self, where: \.number, is: 42)
      _ = (song, same)
    }
  }

  /// From SubclassesAndObjectIDs.md.
  enum SubclassExamples {
    @Stored class Song: StoredObject {
      var title = ""
      var seconds = 0
    }

    @Stored final class LiveSong: Song {
      var venue = ""
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      var opener: Song?
      var songs: [Song] = []
    }

    static func register(_ store: Store) throws {
      try store.register(Song.self, Playlist.self, LiveSong.self)
    }

    static func fetch(_ store: Store) throws {
      let all = try store.allObjects(of: Song.self, includingSubclasses: true)
      let long = try store.fetch(
        Song.self, includingSubclasses: true, where: #Predicate { $0.seconds > 300 },
        sortedBy: [.ascending(\.title)], limit: 20)
      _ = (all, long)
    }

    static func ids(_ store: Store, _ song: Song) throws {
      let id = song.id  // ObjectID<Song>
      let same = try store.object(id)  // Song?
      let parsed = ObjectID<Song>("Song/42")
      _ = (same, parsed)
    }
  }
#endif
