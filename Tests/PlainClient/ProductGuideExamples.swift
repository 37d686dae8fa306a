// The code of the pages of other products, unchanged. It is compiled, and not run.

#if Macros
  import CDB
  import CDBBackend
  import Foundation
  import KeyValueStore
  import PostgreSQLBackend
  import StoredObjects
  import StoredObjectsEncryption
  import StoredObjectsObservability
  import StoredObjectsSync
  import StoredObjectsSyncHTTP
  import TokyoCabinet
  import TokyoCabinetFile

  /// A song of a music service.
  @Stored final class Song: StoredObject {
    var title = ""
    var code: String?
  }

  /// A playlist of a music service.
  @Stored final class Playlist: StoredObject {
    var songs: [Song] = []
  }

  /// From CDB.md and CDBBackend.md.
  enum ConstantDatabaseExamples {
    static func files() throws {
      let writer = try CDBWriter("Songs.cdb")
      try writer.add("Bicycle Race", forKey: "song/2")
      try writer.add("Walking on Sunshine", forKey: "song/3")
      try writer.finish()

      let songs = try CDBReader("Songs.cdb")
      let title = try songs.value(forKey: "song/2").map { String(decoding: $0, as: UTF8.self) }
      try songs.forEach { key, value in print(key.byteCount, value.byteCount) }
      _ = title
    }

    static func values() throws {
      let settings = CDBStringKeyStore("Settings.cdb")
      try settings.open()
      settings["volume"] = 11
      settings["obsolete"] = nil
      try settings.save()
    }

    static func backend() throws {
      let store = Store(backend: try CDBBackend(directory: "Music"))
      try store.register(Song.self, Playlist.self)
    }
  }

  /// From TokyoCabinet.md, TokyoCabinetFile.md and TokyoCabinetBackend.md.
  enum HashFileExamples {
    static func write() throws {
      let songs = try HashDatabase(
        path: "Songs", tuning: Tuning(bucketCount: 400_000, alignmentPower: 2))
      try songs.put(key: Array("elise".utf8), value: Array("Für Elise".utf8))
      if let title = try songs.value(forKey: Array("elise".utf8)) {
        print(String(decoding: title, as: UTF8.self))
      }

      try songs.transaction { songs in
        try songs.append(key: Array("elise".utf8), value: Array(" (Beethoven)".utf8))
        _ = try songs.remove(key: Array("unknown".utf8))
      }

      try songs.forEach { key, value in print(key.byteCount, value.byteCount) }
      try songs.synchronize()
      try songs.close()
    }

    static func read() throws {
      let songs = try HashFile("Song")
      try songs.forEach { key, value in print(key.byteCount, value.byteCount) }
      for finding in songs.check().findings { print(finding) }
    }

    static func backend() throws {
      let backend = try TokyoCabinetBackend(directory: "Music")
      let songs = try backend.table(named: "Song")
      print(backend.location, try backend.recordCount(in: songs))
      try backend.close()
    }
  }

  /// From PostgreSQLBackend.md.
  enum ServerExamples {
    static func open() throws {
      let backend = try PostgreSQLBackend(
        "postgresql://jukebox@db.example.org/music", store: "Music")
      let store = Store(backend: backend)
      try store.register(Song.self, Playlist.self)
    }

    static func refresh(_ url: String) throws {
      var configuration = PostgreSQLConfiguration()
      configuration.freshness = .milliseconds(50)
      let backend = try PostgreSQLBackend(url, store: "Music", configuration: configuration)
      _ = backend
    }

    static func read(_ backend: PostgreSQLBackend) async throws {
      let container = try StoreContainer(backend: backend, classes: [Song.self, Playlist.self])
      let titles = try await container.read { store in
        try store.allObjects(of: Playlist.self).first?.songs.map(\.title)
      }
      _ = titles
    }

    static func count(_ backend: PostgreSQLBackend) throws {
      let settings = try KeyValueStore(backend: backend).createTable("settings")
      try settings.store.write { batch in
        let count = try batch.get("launches", from: settings, as: Int.self) ?? 0
        try batch.put(count + 1, for: "launches", in: settings)
      }
    }

    static func encrypt(_ url: String, _ phrase: String) throws {
      let key = EncryptionKey(passphrase: phrase)
      let backend = try PostgreSQLBackend(url, store: "Music", key: key)
      _ = backend
    }
  }

  /// From KeyValueStoreCore.md.
  struct NotebookExample {
    let (store, notes, settings): (KeyValueStore, KeyValueTable, KeyValueTable)

    static func encrypt(_ phrase: String) throws {
      let store = try KeyValueStore(named: "Notebook", key: EncryptionKey(passphrase: phrase))
      _ = store
    }

    func remember(_ note: String, on day: String) async throws {
      try await notes.put(note, for: day)
      try await store.write { batch in
        let count = try batch.get("count", from: settings, as: Int.self) ?? 0
        try batch.put(count + 1, for: "count", in: settings)
      }
    }

    static func share() throws {
      let backend = try PostgreSQLBackend("postgresql://jukebox@db/music", store: "Settings")
      let store = try KeyValueStore(backend: backend)
      _ = store
    }
  }

  /// From FollowingAStore.md.
  enum FollowerExamples {
    static func follow(_ url: URL, _ token: String, _ copy: any StoreBackend) throws {
      let follower = try HTTPFollower(url, token: token, target: copy)
      let task = Task { try await follower.run() }
      print(follower.status.commitNumber)
      _ = task
    }

    static func share() throws {
      var configuration = TokyoCabinetBackend.Configuration()
      configuration.sharing = .processes
      let copy = try TokyoCabinetBackend(directory: "Music copy", configuration: configuration)
      _ = copy
    }

    static func copy(
      _ backend: any DirectoryBackend, to copy: any StoreBackend, _ upload: (String) -> Void
    ) throws {
      let replication = try StoreReplication(of: backend, to: copy)

      var backup = try ContinuousBackup(directory: "/backup/Music")
      for path in try backup.update(from: backend) { upload(path) }
      _ = replication
    }
  }

  /// From StoredObjectsObservability.md.
  enum InstrumentExamples {
    static func measure() throws {
      let backend = try TokyoCabinetBackend(directory: "Music")
      backend.instrument = ServerInstrument()
    }
  }

  /// From StoredObjectsSync.md.
  enum SyncExamples {
    static func sync(_ transport: any SyncTransport) async throws {
      let backend = try TokyoCabinetBackend(directory: "Music")
      let client = try SyncClient(
        backend: backend, classes: [Song.self, Playlist.self], transport: transport)
      try await client.sync()

      let store = try client.makeStore()
      let song = Song()
      song.title = "Walking on Sunshine"
      store.insert(song)
      try store.saveChanges()  // no network needed

      try await client.sync()
    }

    static func serve(_ backend: any StoreBackend) throws {
      let container = try StoreContainer(backend: backend, classes: [Song.self, Playlist.self])
      let server = try SyncServer(container)
      _ = server
    }

    static func decide() {
      var configuration = SyncConfiguration()
      configuration.decide = { conflict in
        switch conflict.kind {
        case .properties: .theirs
        case .deletedHere, .restoredTwice: .theirs
        case .deletedElsewhere: .mine
        case .notUnique: .edit { object in (object as? Song)?.code = nil }
        }
      }

      configuration.decideItem = { conflict in
        guard let mine = conflict.mine, let theirs = conflict.theirs else { return .theirs }
        return mine.updatedAt > theirs.updatedAt ? .mine : .theirs
      }
    }

    static func syncItems(_ backend: any StoreBackend, _ client: SyncClient) async throws {
      let settings = try await KeyValueStore(backend: backend).createTable("settings")
      try await settings.put(14, for: "font size")

      try await client.sync()
    }
  }
#endif
