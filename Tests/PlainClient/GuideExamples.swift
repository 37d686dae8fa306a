// The code of the guides for desktop apps and background work, unchanged. It is compiled, and not
// run.

#if Macros
  import Foundation
  import StoredObjects

  enum GuideExamples {
    @Stored final class Song: StoredObject {
      @Indexed var title = ""
      var isFavorite = false
      var seconds = 0

      convenience init(_ title: String) {
        self.init()
        self.title = title
      }
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      var songs: [Song] = []
    }

    static func report(_ progress: IntegrityProgress) {}
  }

  /// From BuildingADesktopApp.md.
  extension GuideExamples {
    @MainActor final class Library {
      let container: StoreContainer
      let store: Store
      let undoManager = StoreUndoManager()

      init(directory: String) throws {
        container = try StoreContainer(
          backend: TokyoCabinetBackend(directory: directory), classes: [Song.self, Playlist.self])
        store = try container.makeStore()
        store.isObservable = true
        store.undoManager = undoManager
        store.mergeAutomatically()
      }
    }

    @MainActor struct Window {
      let library: Library
      let selection: Set<Song>

      func buildIndexes() async throws {
        let container = library.container
        try await container.makeActor().perform { store in
          try store.buildIndexes { progress in report(progress) }
        }
      }

      func favorites() throws -> LiveResults<Song> {
        let songs = try library.store.results(
          Song.self, where: #Predicate { $0.isFavorite }, sortedBy: [.ascending(\.title)])
        return songs
      }

      func rename(_ playlist: Playlist, to title: String) throws {
        playlist.title = title
        try library.store.saveChanges()
      }

      func move(from: Playlist, to: Playlist) {
        library.undoManager.group("Move songs") {
          from.songs.removeAll { selection.contains($0) }
          to.songs += selection
        }
      }

      func quit() async throws {
        try library.store.saveChanges()
        try await library.container.close()
      }
    }
  }

  /// From WorkingInTheBackground.md.
  extension GuideExamples {
    static func importLines(_ lines: [String], _ container: StoreContainer) async throws {
      let importer = container.makeActor()
      try await importer.perform { store in
        for line in lines { store.insert(Song(line)) }
        try store.saveChanges()
      }
      try await importer.perform { store in
        for (number, line) in lines.enumerated() {
          store.insert(Song(line))
          if number % 1000 == 999 { try store.saveChanges() }
          try store.setBuffer(named: "Import") { $0.write(UInt64(number)) }
        }
        try store.saveChanges()
      }
    }

    @MainActor static func follow(_ store: Store) { store.mergeAutomatically() }

    static func total(_ store: Store) throws -> Int {
      var total = 0
      var cursor = try store.cursor(over: Song.self)
      while let song = try cursor.next() { total += song.seconds }
      return total
    }

    static func backUp(_ container: StoreContainer) async throws {
      try await container.withBackend { backend in
        guard let backend = backend as? any DirectoryBackend else { return }
        try backend.backup(to: "Music backup") { progress in report(progress) }
      }
    }
  }
#endif
