#if Macros
  import Foundation
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsSync
  import Testing

  @Suite("Two-way sync")
  struct SyncClientTests {
    @Test("A device gets what others have saved, and others get what it has saved")
    func bothWays() async throws {
      let network = try SyncNetwork()
      let (ann, bob) = (try network.device("Ann"), try network.device("Bob"))
      try await ann.sync()
      let store = try ann.store()
      let song = Song()
      (song.title, song.seconds, song.code) = ("Walking on Sunshine", 238, "A")
      let playlist = Playlist()
      (playlist.title, playlist.songs) = ("Holiday", [song, song])
      store.insert(song)
      store.insert(playlist)
      try store.saveChanges()
      #expect(try await ann.client.pendingCount == 1)
      #expect(try await ann.sync() == SyncReport(sent: 1))
      try await bob.sync()
      #expect(try contents(bob.backend) == contents(ann.backend))
      #expect(try contents(network.backend) == contents(ann.backend))
      #expect(try await ann.client.pendingCount == 0)

      let other = try bob.store()
      let same = try #require(
        try other.fetch(Song.self, where: #Predicate { $0.code == "A" }).first)
      same.title = "Sunshine"
      try other.saveChanges()
      try await bob.sync()
      let report = try await ann.sync()
      #expect(report.received == 1 && report.sent == 0)
      store.mergeChanges()
      #expect(song.title == "Sunshine")
    }

    @Test("Both sides' changes to one object are merged, property by property and list by list")
    func merges() async throws {
      let network = try SyncNetwork()
      let (ann, bob) = (try network.device("Ann"), try network.device("Bob"))
      try await ann.sync()
      let store = try ann.store()
      let songs = (0..<5).map { number in
        let song = Song()
        song.title = "\(number)"
        store.insert(song)
        return song
      }
      let playlist = Playlist()
      playlist.songs = songs
      store.insert(playlist)
      try store.saveChanges()
      try await ann.sync()
      try await bob.sync()

      let other = try bob.store()
      let theirs = try #require(try other.allObjects(of: Playlist.self).first)
      theirs.title = "Bob's"
      theirs.songs.insert(theirs.songs.removeLast(), at: 0)
      theirs.songs[2].seconds = 100
      try other.saveChanges()
      playlist.songs.append(songs[0])
      songs[1].title = "one"
      try store.saveChanges()
      try await bob.sync()
      let report = try await ann.sync()
      #expect(report == SyncReport(received: 1, sent: 1))
      try await bob.sync()
      #expect(try contents(ann.backend) == contents(bob.backend))
      #expect(try contents(ann.backend) == contents(network.backend))
      store.mergeChanges()
      #expect(playlist.title == "Bob's")
      #expect(playlist.songs.map(\.title) == ["4", "0", "one", "2", "3", "0"])
      #expect(songs[1].seconds == 100)
    }

    @Test("Commits made without a network keep their authors and their order")
    func offline() async throws {
      let network = try SyncNetwork()
      let (ann, bob) = (try network.device("Ann"), try network.device("Bob"))
      try await ann.sync()
      try await bob.sync()
      ann.transport.fault.withLock { $0 = { .lostRequest } }
      let store = try ann.store()
      for number in 0..<5 {
        let song = Song()
        song.title = "\(number)"
        store.insert(song)
        try store.saveChanges()
      }
      await #expect(throws: LocalTransport.Lost.self) { try await ann.sync() }
      let other = try bob.store()
      other.insert(Artist())
      try other.saveChanges()
      try await bob.sync()
      ann.transport.fault.withLock { $0 = { .none } }
      #expect(try await ann.sync() == SyncReport(received: 1, sent: 5))
      let history = try Store.ofSync(network.backend).history()
      #expect(history.map(\.commit.author) == ["Bob", "Ann", "Ann", "Ann", "Ann", "Ann"])
      #expect(history.last?.changes.first?.new?.values["title"] == .string("4"))
    }

    @Test(
      "A lost answer makes no commit twice",
      arguments: [LocalTransport.Fault.lostAnswer, .cutAnswer, .sentTwice])
    func lostAnswers(_ fault: LocalTransport.Fault) async throws {
      let network = try SyncNetwork()
      let (ann, bob) = (try network.device("Ann"), try network.device("Bob"))
      try await ann.sync()
      try await bob.sync()
      let store = try ann.store()
      let song = Song()
      store.insert(song)
      try store.saveChanges()
      song.seconds = 7
      try store.saveChanges()
      let requests = SharedLock(0)
      // The pull succeeds, and the push is lost.
      ann.transport.fault.withLock {
        $0 = {
          requests.withLock { count in
            count += 1
            return count == 2 ? fault : .none
          }
        }
      }
      if fault == .sentTwice {
        try await ann.sync()
      } else {
        await #expect(throws: (any Error).self) { try await ann.sync() }
      }
      let other = try bob.store()
      other.insert(Song())
      try other.saveChanges()
      try await bob.sync()
      try await ann.sync()
      try await bob.sync()
      #expect(try contents(ann.backend).count == 2)
      #expect(try contents(ann.backend) == contents(network.backend))
      #expect(try contents(bob.backend) == contents(network.backend))
      let commits = try Store.ofSync(network.backend).history()
      #expect(commits.count { $0.commit.author == "Ann" } == 2)
    }

    @Test("A device that is opened again continues, and gives out no row ID twice")
    func reopening() async throws {
      let network = try SyncNetwork()
      let disk = MemoryDisk()
      var rows: Set<String> = []
      for round in 0..<4 {
        let backend = try MemoryBackend(disk: disk)
        let device = try network.device("Ann", backend)
        if round != 2 { try await device.sync() }
        let store = try device.store()
        for _ in 0..<3 {
          let song = Song()
          store.insert(song)
          #expect(rows.insert("\(song.id)").inserted)
        }
        try store.saveChanges()
        if round == 1 { try await device.sync() }
        backend.close()
      }
      let backend = try MemoryBackend(disk: disk)
      let device = try network.device("Ann", backend)
      try await device.sync()
      #expect(try contents(network.backend).count == 12)
      #expect(try contents(backend) == contents(network.backend))
    }

    @Test(
      "Without its client, the store of a device can be read and changed, and takes no new objects")
    func withoutClient() async throws {
      let network = try SyncNetwork()
      let disk = MemoryDisk()
      let backend = try MemoryBackend(disk: disk)
      let device = try network.device("Ann", backend)
      try await device.sync()
      let store = try device.store()
      store.insert(Song())
      try store.saveChanges()
      backend.close()
      let again = try MemoryBackend(disk: disk)
      let other = try Store.ofSync(again)
      let song = try #require(try other.allObjects(of: Song.self).first)
      song.title = "changed"
      try other.saveChanges()
      other.insert(Song())
      let error = #expect(throws: StoreError.self) { try other.saveChanges() }
      #expect(error?.code == .invalidArgument && error?.message.contains("SyncClient") == true)
      other.discardChanges()
      let client = try network.device("Ann", again)
      try await client.sync()
      other.insert(Song())
      try other.saveChanges()
      try await client.sync()
      #expect(try contents(network.backend).count == 2)
    }

    @Test("Objects that the server's program saves come to the devices, and theirs to it")
    func serverProgram() async throws {
      let network = try SyncNetwork()
      let ann = try network.device("Ann")
      try await ann.sync()
      let container = network.server.container
      try await container.write { store in
        let artist = Artist()
        artist.name = "Katrina"
        store.insert(artist)
      }
      let store = try ann.store()
      let song = Song()
      song.code = "K"
      store.insert(song)
      try store.saveChanges()
      try await ann.sync()
      #expect(try contents(ann.backend).count == 2)
      #expect(try contents(ann.backend) == contents(network.backend))
      let found = try await container.read { store in
        try store.count(of: Song.self, where: #Predicate { $0.code == "K" })
      }
      #expect(found == 1)
    }

    @Test("Row IDs are renewed before they are used up, and running out is an error")
    func leases() async throws {
      let network = try SyncNetwork()
      var configuration = SyncConfiguration()
      configuration.rowsAhead = 10
      let ann = try network.device("Ann", configuration: configuration)
      try await ann.sync()
      let store = try ann.store()
      for _ in 0..<10 { store.insert(Song()) }
      try store.saveChanges()
      store.insert(Song())
      let error = #expect(throws: StoreError.self) { try store.saveChanges() }
      #expect(error?.code == .rowIDsExhausted && error?.message.contains("sync()") == true)
      store.discardChanges()
      try await ann.sync()
      for _ in 0..<10 { store.insert(Song()) }
      try store.saveChanges()
      try await ann.sync()
      #expect(try contents(network.backend).count == 20)
    }
  }

  extension Store {
    static func ofSync(_ backend: any StoreBackend) throws -> Store {
      let store = Store(backend: backend)
      try store.register(syncedClasses)
      return store
    }
  }
#endif
