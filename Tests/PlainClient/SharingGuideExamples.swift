// The code of guides, as they have it: a test compares. It is compiled, and not run.

#if Macros
  import Foundation
  import KeyValueStore
  import StoredObjects

  /// From SharingAStore.md.
  enum TaskExamples {
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

    @Stored final class Account: StoredObject {
      var balance = 0
    }

    struct NoSuchSong: Error {}
    struct Overdrawn: Error {}

    struct SongInfo: Codable, Sendable {
      let title: String
      let playCount: Int
    }

    static func open() throws {
      let container = try StoreContainer(
        backend: TokyoCabinetBackend(directory: "Music"), classes: [Song.self, Playlist.self])
      _ = container
    }

    static func build(_ container: StoreContainer) async throws {
      try await container.makeActor().perform { try $0.buildIndexes() }
    }

    static func read(_ container: StoreContainer) async throws {
      let songs = try await container.read { store in
        try store.allObjects(of: Song.self).map { song in
          SongInfo(title: song.title, playCount: song.playCount)
        }
      }
      _ = songs
    }

    static func write(_ container: StoreContainer, _ id: ObjectID<Song>) async throws {
      try await container.write { store in
        guard let song = try store.object(id) else { throw NoSuchSong() }
        song.playCount += 1
      }
    }

    static func look(_ container: StoreContainer) throws {
      let snapshot = try container.snapshot()
      let store = try snapshot.makeStore()
      try store.exportJSON(to: "music.jsonl")
    }

    static func insert(_ container: StoreContainer, _ titles: [String]) async throws {
      let importer = container.makeActor()
      try await importer.perform { store in
        for title in titles { store.insert(Song(title: title)) }
        try store.saveChanges()
      }
    }

    static func merge(_ container: StoreContainer) {
      let player = container.makeActor(mergesAutomatically: true)
      _ = player
    }

    static func autosave(_ container: StoreContainer) {
      let editor = container.makeActor(
        autosave: .after(.seconds(2)) { store, error in
          if error.code == .conflict { store.discardChanges() }
        })
      _ = editor
    }

    static func transfer(_ store: Store, _ from: Account, _ to: Account, _ amount: Int) throws {
      try store.transaction {
        from.balance -= amount
        guard from.balance >= 0 else { throw Overdrawn() }
        to.balance += amount
      }
    }

    static func maintain(_ container: StoreContainer) async throws {
      try await container.withBackend { backend in
        try (backend as? any DirectoryBackend)?.backup(to: "Music backup") { _ in }
      }
    }

    @MainActor final class Library {
      let store: Store
      init(_ container: StoreContainer) throws {
        store = try container.makeStore()
        store.mergeAutomatically()
      }
    }
  }

  /// From SharingAStore.md.
  enum MainActorExamples {
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

    @MainActor final class Library {
      let store: Store
      init(_ container: StoreContainer) throws { store = try container.makeStore() }
    }
  }

  /// From Concurrency.md.
  enum ActorExamples {
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

    actor Library {
      private let store: Store

      init(backend: any StoreBackend) throws {
        store = Store(backend: backend)
        try store.register(Song.self, Playlist.self)
      }

      func titles() throws -> [String] {
        try store.allObjects(of: Song.self).map(\.title)
      }
    }
  }

  /// From WorkingInTheBackground.md.
  enum BackgroundExamples {
    @Stored final class Song: StoredObject {
      var line = ""

      convenience init(_ line: String) {
        self.init()
        self.line = line
      }
    }

    static func insert(_ importer: StoreActor, _ lines: [String]) async throws {
      try await importer.perform { store in
        for (number, line) in lines.enumerated() {
          store.insert(Song(line))
          if number % 1000 == 999 { try store.saveChanges() }
        }
        try store.saveChanges()
      }
    }

    static func stop() throws {
      if Task.isCancelled { throw CancellationError() }
    }
  }

  /// From KeyValueStoreCore.md.
  enum TableExamples {
    static func show(_ size: Double) {}

    static func open() throws {
      let store = try KeyValueStore(named: "Notebook")  // ~/.local/share/Notebook
      let notes = try store.createTable("notes")

      try notes.put("Buy milk", for: "2026-11-21")
      try notes.put(["en", "de"], for: "languages")
      try notes.put("abc", for: "token", expiresAfter: .seconds(3600))

      let note = try notes.get("2026-11-21", as: String.self)  // nil when there is no such key
      _ = note
    }

    static func write(
      _ store: KeyValueStore, _ shop: KeyValueTable, _ orders: KeyValueTable
    ) throws {
      try store.write { batch in
        let left = try batch.get("stock", from: shop, as: Int.self) ?? 0
        try batch.put(left - 1, for: "stock", in: shop)
        try batch.put("sold", for: "order 7", in: orders)
      }
    }

    static func read(_ notes: KeyValueTable, _ lastKey: String) throws {
      let november = try notes.prefix("2026-11-").items()
      let page = try notes.all.after(lastKey).limit(50).items()
      let recent = try notes.all.filter { $0.key != "languages" }
        .sorted { $0.updatedAt > $1.updatedAt }.limit(10).items()
      _ = (november, page, recent)
    }

    struct Archive {
      func add(_ name: UTF8Span, _ bytes: RawSpan) {}
      func add(_ name: String, _ bytes: RawSpan) {}
    }

    static func borrow(_ images: KeyValueTable, _ archive: Archive) throws {
      let size = try images.withBytes(of: "logo") { $0.byteCount }  // nil when there is no such key
      try images.prefix("2026-11-").forEachBytes { name, bytes in archive.add(name, bytes) }
      _ = size
    }

    static func observe(_ notes: KeyValueTable, _ settings: KeyValueTable) async throws {
      for await change in notes.changes() { print(change.kind, change.key ?? "") }
      for try await size in settings.values(of: "font size", as: Double.self) { show(size ?? 12) }
    }

    static func handle(_ settings: KeyValueTable) {
      do {
        print(try settings.get("launches", as: Int.self) ?? 0)
      } catch {
        switch error.code {
        case .typeMismatch: print("Not a number: \(error)")
        case .noSpace: print("The disk is full.")
        default: print(error)
        }
      }
    }
  }

  /// From README.md.
  enum ReadmeExamples {
    static func values() throws {
      let store = try KeyValueStore(named: "Notebook")  // ~/.local/share/Notebook
      let notes = try store.createTable("notes")

      try notes.put("Buy milk", for: "2026-11-21")
      let note = try notes.get("2026-11-21", as: String.self)
      let november = try notes.prefix("2026-11-").limit(10).items()
      _ = (note, november)
    }
  }
#endif
