import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite struct SharingTests {
  /// Two stores on one backend that have both read the same songs.
  private func twoStores(_ fixture: Fixture) throws -> (Store, [Song], Store, [Song]) {
    let (first, songs) = try fixture.store(songs: "a", "b", "c")
    let second = try fixture.store()
    return (first, songs, second, try second.allObjects(of: Song.self))
  }

  @Test("A store reads saved changes of another one, and no unsaved ones")
  func visibility() throws {
    let fixture = try Fixture()
    let (first, songs, second, others) = try twoStores(fixture)
    #expect(songs[0] !== others[0])
    first.insert(Song("d", 1))
    songs[0].title = "a2"
    #expect(try second.count(of: Song.self) == 3)
    try first.saveChanges()
    #expect(try second.allObjects(of: Song.self).map(\.title) == ["a", "b", "c", "d"])
    #expect(!second.hasUnsavedChanges)
    second.mergeChanges()
    #expect(others[0].title == "a2")
    #expect(try second.object(Song.self, rowID: 2) === others[0])
  }

  @Test("refresh(_:) reads one object again unless it has unsaved changes")
  func refresh() throws {
    let fixture = try Fixture()
    let (first, songs, second, others) = try twoStores(fixture)
    songs[0].title = "a2"
    songs[1].title = "b2"
    try first.saveChanges()
    second.refresh(others[0])
    #expect(others[0].title == "a2" && others[1].title == "b")
    others[0].title = "mine"
    second.refresh(others[0])
    #expect(others[0].title == "mine")
    try second.saveChanges()
    #expect(try fixture.savedTitles() == ["mine", "b2", "c"])
  }

  @Test("A change based on an outdated record is a conflict, and changes nothing")
  func updateUpdate() throws {
    let fixture = try Fixture()
    let (first, songs, second, others) = try twoStores(fixture)
    songs[0].title = "theirs"
    try first.saveChanges()
    others[0].title = "mine"
    others[1].title = "mine too"
    for _ in 0..<2 {
      let error = expectStoreError(.conflict) { try second.saveChanges() }
      #expect(error?.location.rowID == 2 && error?.location.className == "Song")
      second.mergeChanges()
    }
    #expect(others[0].title == "mine" && second.hasUnsavedChanges)
    #expect(try fixture.savedTitles() == ["theirs", "b", "c"])
    second.discardChanges()
    #expect(others[0].title == "theirs")
    others[0].title = "mine"
    try second.saveChanges()
    #expect(try fixture.savedTitles() == ["mine", "b", "c"])
  }

  @Test("Keeping the store's own changes resolves a conflict; later ones are conflicts again")
  func keep() throws {
    let fixture = try Fixture()
    let (first, songs, second, others) = try twoStores(fixture)
    songs[0].title = "theirs"
    songs[1].title = "theirs too"
    try first.saveChanges()
    others[0].title = "mine"
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    fixture.backend.failCommits()
    expectStoreError(.ioError) { try second.saveChanges() }
    try second.saveChanges()
    #expect(try fixture.savedTitles() == ["mine", "theirs too", "c"])
    #expect(others[1].title == "theirs too")
    songs[0].title = "from the outdated one"
    expectStoreError(.conflict) { try first.saveChanges() }
  }

  @Test("Deleting what another store has changed is a conflict, and so is the reverse")
  func deleteUpdate() throws {
    let fixture = try Fixture()
    let (first, songs, second, others) = try twoStores(fixture)
    songs[0].title = "theirs"
    first.delete(songs[1])
    try first.saveChanges()
    second.delete(others[0])
    expectStoreError(.conflict) { try second.saveChanges() }
    second.discardChanges()
    #expect(others[0].title == "theirs")
    second.delete(others[0])
    try second.saveChanges()
    others[1].title = "of a deleted row"
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    try second.saveChanges()
    #expect(try fixture.savedTitles() == ["of a deleted row", "c"])
  }

  @Test("Changes to different objects are not a conflict")
  func noConflict() throws {
    let fixture = try Fixture()
    let (first, songs, second, others) = try twoStores(fixture)
    songs[0].title = "a2"
    first.delete(songs[2])
    others[1].title = "b2"
    second.insert(Song("d", 1))
    try first.saveChanges()
    try second.saveChanges()
    #expect(try fixture.savedTitles() == ["a2", "b2", "d"])
  }

  @Test("An enumeration continues correctly while another store saves")
  func enumeration() throws {
    let fixture = try Fixture()
    let first = try fixture.store()
    for number in 0..<2_000 { first.insert(Song("\(number)", 0)) }
    try first.saveChanges()
    let second = try fixture.store()
    var visited: [UInt32] = []
    try first.enumerate(Song.self) { song, _ in
      visited.append(song.rowID)
      if song.rowID % 100 == 0 {
        try second.object(Song.self, rowID: song.rowID + 1)?.title = "changed"
        if let next = try second.object(Song.self, rowID: song.rowID + 2) { second.delete(next) }
        second.insert(Song("new", 0))
        try second.saveChanges()
      }
      if song.rowID % 100 == 1 && song.rowID > 2 { #expect(song.title == "changed") }
    }
    #expect(visited.count == 1_981 && Set(visited).count == 1_981)
  }

  /// A counter in a store, with the store in an actor of its own.
  private actor Writer {
    private let store: Store
    init(_ backend: any StoreBackend) throws {
      store = Store(backend: backend)
      try store.register(Song.self)
    }

    /// Raises the counter, as often as it takes to win.
    func raise() throws {
      repeat {
        let counter = try #require(try store.object(Song.self, rowID: 2))
        counter.seconds += 1
        store.insert(Song("of one writer", 1))
      } while try !savedWithoutConflict()
    }

    private func savedWithoutConflict() throws -> Bool {
      do {
        try store.saveChanges()
        return true
      } catch {
        guard error.code == .conflict else { throw error }
        store.discardChanges()
        return false
      }
    }
  }

  @Test("No update is lost if several stores save the same object concurrently")
  func concurrentWriters() async throws {
    let backend = try MemoryBackend()
    let store = Store(backend: backend)
    try store.register(Song.self)
    store.insert(Song("counter", 0))
    try store.saveChanges()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        let writer = try Writer(backend)
        group.addTask {
          for _ in 0..<100 { try await writer.raise() }
        }
      }
      try await group.waitForAll()
    }
    let end = Store(backend: backend)
    try end.register(Song.self)
    #expect(try end.object(Song.self, rowID: 2)?.seconds == 400)
    #expect(try end.count(of: Song.self) == 401)
  }
}
