#if Macros
  import Foundation
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsSync
  import Testing

  @Suite("Conflicts of a sync")
  struct SyncConflictTests {
    /// Two devices with one song in one playlist, of which Ann decides.
    private func pair(
      _ decide: @escaping @Sendable (SyncConflict) -> SyncDecision
    ) async throws -> (network: SyncNetwork, ann: Device, bob: Device) {
      let network = try SyncNetwork()
      var configuration = SyncConfiguration()
      configuration.decide = decide
      let ann = try network.device("Ann", configuration: configuration)
      let bob = try network.device("Bob")
      try await ann.sync()
      let store = try ann.store()
      let (song, playlist) = (Song(), Playlist())
      (song.title, song.seconds, playlist.songs) = ("first", 1, [song])
      store.insert(song)
      store.insert(playlist)
      try store.saveChanges()
      try await ann.sync()
      try await bob.sync()
      return (network, ann, bob)
    }

    /// Lets both devices save, Bob synchronize first, and then Ann.
    private func race(
      _ devices: (network: SyncNetwork, ann: Device, bob: Device),
      ann: @escaping (Song, Store) -> Void, bob: @escaping (Song, Store) -> Void
    ) async throws -> SyncReport {
      for (device, edit) in [(devices.ann, ann), (devices.bob, bob)] {
        let store = try device.store()
        edit(try #require(try store.allObjects(of: Song.self).first), store)
        try store.saveChanges()
      }
      try await devices.bob.sync()
      let report = try await devices.ann.sync()
      try await devices.bob.sync()
      #expect(try contents(devices.ann.backend) == contents(devices.network.backend))
      #expect(try contents(devices.bob.backend) == contents(devices.network.backend))
      return report
    }

    private func song(_ backend: any StoreBackend) throws -> Song? {
      let store = Store(backend: backend)
      try store.register(syncedClasses)
      return try store.allObjects(of: Song.self).first
    }

    @Test("An object that is saved while it is merged is merged again, and keeps the late change")
    func lateSave() async throws {
      let backend = SharedLock<(any StoreBackend)?>(nil)
      let devices = try await pair { _ in
        guard
          let backend = backend.withLock({ backend in
            defer { backend = nil }
            return backend
          })
        else { return .theirs }
        let store = Store(backend: backend)
        try? store.register(syncedClasses)
        (try? store.allObjects(of: Song.self).first)?.notes = ["late"]
        #expect(throws: Never.self) { try store.saveChanges() }
        return .theirs
      }
      backend.withLock { $0 = devices.ann.backend }
      let report = try await race(
        devices, ann: { song, _ in song.title = "mine" }, bob: { song, _ in song.title = "theirs" })
      #expect(backend.withLock { $0 == nil } && report.conflicts > 0)
      let found = try #require(try song(devices.network.backend))
      #expect(found.title == "theirs")
      #expect(found.notes == ["late"])
    }

    @Test("Two values of one property are a conflict, and nothing is lost before a decision")
    func undecided() async throws {
      let devices = try await pair { conflict in
        #expect(conflict.kind == .properties(["title"]))
        return .fail
      }
      let error = await #expect(throws: StoreError.self) {
        _ = try await race(devices, ann: { song, _ in song.title = "Ann's" }) { song, _ in
          (song.title, song.seconds) = ("Bob's", 2)
        }
      }
      #expect(error?.code == .conflict)
      #expect(try song(devices.ann.backend)?.title == "Ann's")
      #expect(try await devices.ann.client.pendingCount == 1)
      #expect(try song(devices.network.backend)?.title == "Bob's")
    }

    @Test("A decision for one side takes its value, and keeps what only the other has changed")
    func sides() async throws {
      for isMine in [true, false] {
        let devices = try await pair { _ in isMine ? .mine : .theirs }
        let report = try await race(devices, ann: { song, _ in song.title = "Ann's" }) { song, _ in
          (song.title, song.seconds) = ("Bob's", 2)
        }
        let song = try #require(try song(devices.network.backend))
        #expect(song.title == (isMine ? "Ann's" : "Bob's") && song.seconds == 2)
        #expect(report.conflicts == 1)
      }
    }

    @Test("A closure can settle a conflict by an edit")
    func edits() async throws {
      let devices = try await pair { _ in
        .edit { object in (object as? Song)?.title = "both" }
      }
      _ = try await race(devices, ann: { song, _ in song.title = "Ann's" }) { song, _ in
        song.title = "Bob's"
      }
      #expect(try song(devices.network.backend)?.title == "both")
    }

    @Test("An object that one side has deleted and the other has changed stays or goes as decided")
    func deletions() async throws {
      for (isMine, isDeletedHere) in [(true, true), (true, false), (false, true), (false, false)] {
        let devices = try await pair { conflict in
          #expect(conflict.kind == (isDeletedHere ? .deletedHere : .deletedElsewhere))
          return isMine ? .mine : .theirs
        }
        func edit(_ song: Song) { song.title = "changed" }
        func delete(_ song: Song, _ store: Store) {
          for playlist in (try? store.allObjects(of: Playlist.self)) ?? [] { playlist.songs = [] }
          store.delete(song)
        }
        let report = try await race(devices) { song, store in
          if isDeletedHere { delete(song, store) } else { edit(song) }
        } bob: { song, store in
          if isDeletedHere { edit(song) } else { delete(song, store) }
        }
        let isThere = try song(devices.network.backend) != nil
        #expect(isThere == (isMine != isDeletedHere), "mine: \(isMine), here: \(isDeletedHere)")
        #expect(report.conflicts == 1)
      }
    }

    @Test("A unique value that both sides have given is a conflict, which an edit settles")
    func uniqueValues() async throws {
      let devices = try await pair { conflict in
        #expect(conflict.kind == .notUnique(property: "code"))
        return .edit { object in (object as? Song)?.code = "A2" }
      }
      _ = try await race(devices) { _, store in
        let song = Song()
        (song.title, song.code) = ("Ann's", "A")
        store.insert(song)
      } bob: { song, _ in
        song.code = "A"
      }
      let store = try Store.ofSync(devices.network.backend)
      #expect(try store.allObjects(of: Song.self).compactMap(\.code).sorted() == ["A", "A2"])
    }

    @Test("A list has no object that the other side has deleted")
    func references() async throws {
      let devices = try await pair { _ in .fail }
      _ = try await race(devices) { song, store in
        let playlist = Playlist()
        playlist.songs = [song, song]
        store.insert(playlist)
      } bob: { song, store in
        for playlist in (try? store.allObjects(of: Playlist.self)) ?? [] { playlist.songs = [] }
        store.delete(song)
      }
      let store = try Store.ofSync(devices.network.backend)
      let playlists = try store.allObjects(of: Playlist.self)
      #expect(playlists.count == 2 && playlists.allSatisfy(\.songs.isEmpty))
    }

    @Test("Both ends of a relationship agree after both sides have changed it")
    func relationships() async throws {
      let devices = try await pair { _ in .theirs }
      for device in [devices.ann, devices.bob] {
        let store = try device.store()
        let artist = Artist()
        artist.name = device.id
        store.insert(artist)
        try store.saveChanges()
        try await device.sync()
      }
      try await devices.ann.sync()
      _ = try await race(devices) { song, store in
        song.artist = (try? store.allObjects(of: Artist.self))?.first { $0.name == "Ann" }
      } bob: { song, store in
        song.artist = (try? store.allObjects(of: Artist.self))?.first { $0.name == "Bob" }
      }
      let store = try Store.ofSync(devices.network.backend)
      let song = try #require(try store.allObjects(of: Song.self).first)
      #expect(song.artist != nil)
      for artist in try store.allObjects(of: Artist.self) {
        #expect(artist.songs == (song.artist === artist ? [song] : []))
      }
    }
  }
#endif
