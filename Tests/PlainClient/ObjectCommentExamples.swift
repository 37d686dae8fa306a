// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import Foundation
  import Logging
  import Observation
  import StoredObjects

  /// From IndexableValue.swift.
  extension Year: IndexableValue {
    public func writeKey(to key: inout IndexKey) { number.writeKey(to: &key) }
  }

  enum ObjectComments {
    static var store: Store = notRun()
    static var backend: TokyoCabinetBackend = notRun()
    static var container: StoreContainer = notRun()
    static var song: Song = notRun()
    static var playlist: Playlist = notRun()
    static var id: ObjectID<Playlist> = notRun()
    static var account: Account = notRun()
    static var other: Account = notRun()
    static var logger: Logger = notRun()
    static var lastMonday: UInt64 = notRun()
    static var seen: UInt64 = notRun()
    static var label: CommentLabel = notRun()
    static var picture: [UInt8] = notRun()
    static var wanted: String = notRun()
    static var found: Song? = notRun()

    static func close() {}

    @Stored class Song: StoredObject {
      var title = ""
      var cover = ExternalData()
      @Indexed(unique: true) var number = 0

      convenience init(number: Int, title: String) {
        self.init()
        self.number = number
        self.title = title
      }
    }

    @Stored final class LiveSong: Song {}

    @Stored final class Playlist: StoredObject {
      var title = ""
      var songs: ObjectList<Song> = []
    }

    @Stored final class Account: StoredObject { var balance = 0 }

    struct Overdrawn: Error {}

    /// From Store+History.swift.
    static func storeHistoryExample() throws {
      try backend.beginHistory()
      // …
      for commit in try store.history(after: seen, of: [Song.self]) {
        for change in commit.changes where change.kind == .updated {
          print(commit.commit.author, change.id, change.changedProperties)
        }
        seen = commit.commit.number
      }
    }

    /// From Store+History.swift.
    static func storeHistory2Example() throws {
      let changes = try store.differences(from: lastMonday, to: backend.lastCommitNumber)
      _ = changes
    }

    /// From ConflictPolicy.swift.
    static func conflictPolicyExample() throws {
      let configuration = StoreConfiguration(conflictPolicy: .merge)
      _ = configuration
    }

    /// From Autosave.swift.
    static func autosaveExample() async throws {
      let editor = container.makeActor(
        autosave: .after(.seconds(2)) { store, error in
          if error.code == .conflict { store.discardChanges() }
        })
      try await editor.perform { store in
        try store.object(id)?.title = "Feeling Good"
      }
      // Saved within two seconds.
      _ = editor
    }

    /// From Store+MergingAutomatically.swift.
    enum StoreMergingAutomaticallyExample {
      @MainActor final class Library {
        let store: Store

        init(_ container: StoreContainer) throws {
          store = try container.makeStore()
          store.mergeAutomatically()
        }
      }
    }

    /// From StoreContainer+Changes.swift.
    static func storeContainerChangesExample() async throws {
      for await changes in try container.committedChanges() {
        for rowID in changes[Song.self].updated { print("changed: \(rowID)") }
        // Read them, and update the views.
      }
    }

    /// From StoreContainer+Reading.swift.
    static func storeContainerReadingExample() async throws {
      let names = try await container.read { store in
        guard let list = try store.object(id) else { return [] }
        return list.songs.map(\.title)
      }
      _ = names
    }

    /// From StoreContainer.swift.
    static func storeContainerExample() async throws {
      let container = try StoreContainer(
        backend: TokyoCabinetBackend(directory: "Music"), classes: [Song.self, Playlist.self])

      try await container.write { store in
        let song = Song()
        song.title = "Walking on Sunshine"
        store.insert(song)
      }
      let titles = try await container.read { store in
        try store.allObjects(of: Song.self).map(\.title)
      }
      _ = (container, titles)
    }

    /// From StoreContainer.swift.
    static func storeContainer2Example() throws {
      let editor = container.makeActor(
        autosave: .after(.seconds(2)) { _, error in logger.error("\(error)") })
      _ = editor
    }

    /// From StoreContainer.swift.
    static func storeContainer3Example() async throws {
      try await container.withBackend { backend in
        try (backend as? any DirectoryBackend)?.checkpoint()
      }
    }

    /// From StoreSnapshot.swift.
    static func storeSnapshotExample() throws {
      let snapshot = try container.snapshot()
      // Others save meanwhile.
      let store = try snapshot.makeStore()
      let count = try store.count(of: Song.self)
      _ = (snapshot, store, count)
    }

    /// From ExternalData+Encoding.swift.
    final class ExternalDataEncodingExample: StoredObject {
      var title = ""
      var cover = ExternalData()

      override func writeContent(to buffer: inout DataBuffer) {
        buffer.write(title)
        buffer.write(cover, externalAbove: 4096)
      }
    }

    /// From ExternalData.swift.
    static func externalDataExample() throws {
      song.cover = ExternalData(picture)
      try store.saveChanges()
      let same = try song.cover.data()
      _ = same
    }

    /// From StoreUndoManager+Saving.swift.
    static func storeUndoManagerSavingExample() throws {
      store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo")
    }

    /// From StoreUndoManager.swift.
    static func storeUndoManagerExample() throws {
      store.undoManager = StoreUndoManager()

      store.undoManager?.group("Rename") { song.title = "Sunny" }
      try store.undoManager?.undo()   // the old title is back
      try store.undoManager?.redo()
    }

    /// From Store+Checking.swift.
    static func storeCheckingExample() throws {
      let check = try store.check()
      if !check.isSound { for finding in check.findings { print(finding) } }
      _ = check
    }

    /// From Store+ImportingJSON.swift.
    static func storeImportingJSONExample() throws {
      var value = try song.value()
      value["title"] = "Sunny"
      try store.insertOrUpdate(value)
      _ = value
    }

    /// From ObjectList.swift.
    static func objectListExample() throws {
      print(playlist.songs.count, playlist.songs[0].title)
      playlist.songs.append(song)
      playlist.songs.move(from: 9, to: 0)
    }

    /// From ObjectID.swift.
    static func objectIDExample() throws {
      let id = song.id                      // ObjectID<Song>
      let same = try store.object(id)       // Song?
      print(id)                             // Song/42
      let parsed = ObjectID<Song>("Song/42")
      _ = (id, same, parsed)
    }

    /// From ObservedObjects.swift.
    static func observedObjectsExample() async throws {
      store.isObservable = true
      for await title in Observations({ song.title }) { label.text = title }
    }

    /// From StoreChanges.swift.
    static func storeChangesExample() async throws {
      for await changes in store.committedChanges() {
        for rowID in changes[Song.self].inserted { print("new: \(rowID)") }
      }
    }

    /// From Store+Fetching.swift.
    static func storeFetchingExample() throws {
      try store.enumerate(Song.self) { song, stop in
        if song.title == wanted { found = song; stop = true }
      }
    }

    /// From Store+NamedBuffers.swift.
    static func storeNamedBuffersExample() throws {
      try store.setBuffer(named: "Favorite") { $0.write(song) }
    }

    /// From Store+NamedBuffers.swift.
    static func storeNamedBuffers2Example() throws {
      var buffer = try store.buffer(named: "Favorite")
      let favorite = try buffer?.readObject(of: Song.self)
      _ = (buffer, favorite)
    }

    /// From Store+ObjectIDs.swift.
    static func storeObjectIDsExample() throws {
      let song = try store.object(id)
      _ = song
    }

    /// From Store+Subclasses.swift.
    static func storeSubclassesExample() throws {
      for song in try store.allObjects(of: Song.self, includingSubclasses: true) {
        print(song.title, song is LiveSong)
      }
    }

    /// From Store.swift.
    static func storeExample() throws {
      let store = try Store(backend: TokyoCabinetBackend(directory: "Music"))
      try store.register(Song.self, Playlist.self)

      let song = Song()
      song.title = "Walking on Sunshine"
      store.insert(song)
      try store.saveChanges()

      for song in try store.allObjects(of: Song.self) { print(song.title) }
      _ = (store, song)
    }

    /// From ThreadExecutor.swift.
    enum ThreadExecutorExample {
      actor Library {
        private let executor = ThreadExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor {
          executor.asUnownedSerialExecutor()
        }
        private let store: Store
        init(backend: any StoreBackend) { store = Store(backend: backend) }
      }
    }

    /// From Store+Transactions.swift.
    static func storeTransactionsExample() throws {
      try store.transaction {
        account.balance -= 30
        guard account.balance >= 0 else { throw Overdrawn() }
        other.balance += 30
      }
    }

    /// From Store+Uniqueness.swift.
    static func storeUniquenessExample() throws {
      let song = try store.insertOrUpdate(Song(number: 42, title: "Sunny"))
      _ = song
    }

    /// From Store+Uniqueness.swift.
    static func storeUniqueness2Example() throws {
      let song = try store.object(Song.self, where: \.number, is: 42)
      _ = song
    }

    /// From ObjectValue.swift.
    static func objectValueExample() throws {
      let value = try song.value()
      let json = try JSONEncoder().encode(value)
      // {"id":"Song/42","values":{"artist":"Artist/7","seconds":298,"title":"Sunny"}}
      let same = try JSONDecoder().decode(ObjectValue.self, from: json)
      try store.insertOrUpdate(same)
      _ = (value, json, same)
    }
  }
#endif
