import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite struct FailedSaveTests {
  /// A store with an insert, an update, a deletion and a name that wait to be saved.
  private func pendingChanges(_ fixture: Fixture) throws -> (Store, [Song]) {
    let (store, songs) = try fixture.store(songs: "a", "b", "c")
    let new = Song("d", 4)
    store.insert(new)
    songs[0].title = "a2"
    store.delete(songs[1])
    try store.setBuffer(named: "Name") { $0.write(UInt8(7)) }
    return (store, songs + [new])
  }

  /// Expects everything to be as before a save that failed.
  private func expectPending(_ fixture: Fixture, _ store: Store, _ songs: [Song]) throws {
    #expect(store.hasUnsavedChanges)
    #expect(songs.map(\.hasUnsavedChanges) == [true, true, false, true])
    #expect(songs[1].isDeleted && songs[1].store === store)
    #expect(songs[0].title == "a2" && songs[3].rowID == 5)
    #expect(try store.allObjects(of: Song.self).map(\.title) == ["a2", "c", "d"])
    #expect(try store.count(of: Song.self) == 3)
    #expect(try store.bufferNames() == ["Name"])
    #expect(try fixture.savedTitles() == ["a", "b", "c"])
    #expect(try fixture.store().bufferNames() == [])
  }

  @Test("A failed commit changes nothing and can be tried again")
  func failingCommit() throws {
    let fixture = try Fixture()
    let (store, songs) = try pendingChanges(fixture)
    fixture.backend.failCommits(times: 3, with: .init(.noSpace, "No room."))
    for _ in 0..<3 {
      expectStoreError(.noSpace) { try store.saveChanges() }
      try expectPending(fixture, store, songs)
    }
    try store.saveChanges()
    #expect(!store.hasUnsavedChanges && songs[1].store == nil)
    try fixture.reopen()
    #expect(try fixture.savedTitles() == ["a2", "c", "d"])
    #expect(try fixture.store().bufferNames() == ["Name"])
  }

  @Test("A failed save can be discarded")
  func discardAfterFailure() throws {
    let fixture = try Fixture()
    let (store, songs) = try pendingChanges(fixture)
    fixture.backend.failCommits()
    expectStoreError(.ioError) { try store.saveChanges() }
    store.discardChanges()
    #expect(try store.allObjects(of: Song.self).map(\.title) == ["a", "b", "c"])
    #expect(songs[3].store == nil)
    songs[2].title = "c2"
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["a", "b", "c2"])
  }

  @Test("writeContent(to:) that throws fails the save, names the object, and changes nothing")
  func throwingWrite() throws {
    let fixture = try Fixture()
    let (store, songs) = try pendingChanges(fixture)
    let stubborn = Stubborn(1)
    stubborn.whileWriting = { _ in throw Stubborn.Refusal() }
    store.insert(stubborn)
    let error = expectStoreError(.notEncodable) { try store.saveChanges() }
    #expect(error?.location.className == "Stubborn" && error?.location.rowID == 2)
    #expect(error?.underlying is Stubborn.Refusal)
    try expectPending(fixture, store, songs)
    stubborn.whileWriting = nil
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["a2", "c", "d"])
  }

  @Test("A reference to an object that is not inserted fails the save until it is")
  func uninsertedReference() throws {
    let fixture = try Fixture()
    let (store, songs) = try pendingChanges(fixture)
    let list = Playlist()
    let song = Song("later", 1)
    list.songs = [songs[0], song]
    store.insert(list)
    let error = expectStoreError(.notEncodable) { try store.saveChanges() }
    #expect(error?.location.className == "Playlist" && error?.location.rowID == 2)
    #expect((error?.underlying as? DataBufferError)?.code == .notInserted)
    try expectPending(fixture, store, songs)
    store.insert(song)
    try store.saveChanges()
    #expect(
      try fixture.store().allObjects(of: Playlist.self)[0].songs.map(\.title) == ["a2", "later"])
  }

  @Test("A reference to a deleted object fails the save until it is removed")
  func deletedReference() throws {
    let fixture = try Fixture()
    let (store, songs) = try pendingChanges(fixture)
    let list = Playlist()
    list.songs = [songs[1], songs[0], songs[1]]
    store.insert(list)
    expectStoreError(.notEncodable) { try store.saveChanges() }
    try expectPending(fixture, store, songs)
    list.songs.removeAll { $0.isDeleted }
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["a2", "c", "d"])
  }

  @Test("A reference to an object of another store fails the save")
  func foreignReference() throws {
    let fixture = try Fixture()
    let (store, songs) = try pendingChanges(fixture)
    let list = Playlist()
    list.songs = [try #require(try fixture.store().object(Song.self, rowID: 4))]
    store.insert(list)
    expectStoreError(.notEncodable) { try store.saveChanges() }
    try expectPending(fixture, store, songs)
    list.songs = [songs[2]]
    try store.saveChanges()
  }

  @Test("A reference that can't name the object's class fails the save")
  func wrongClass() throws {
    let fixture = try Fixture()
    let (store, songs) = try pendingChanges(fixture)
    let stubborn = Stubborn(1)
    stubborn.whileWriting = { $0.write(songs[2] as StoredObject) }
    store.insert(stubborn)
    let error = expectStoreError(.notEncodable) { try store.saveChanges() }
    #expect((error?.underlying as? DataBufferError)?.code == .wrongClass)
    try expectPending(fixture, store, songs)
  }

  @Test("Inserting, changing, deleting or saving while objects are written fails the save")
  func changeWhileWriting() throws {
    let fixture = try Fixture()
    let (store, songs) = try pendingChanges(fixture)
    let changes: [() throws -> Void] = [
      { songs[2].title = "changed" }, { store.insert(Song("inserted", 1)) },
      { store.delete(songs[2]) }, { try store.saveChanges() },
    ]
    for change in changes {
      let stubborn = Stubborn(1)
      stubborn.whileWriting = { _ in try change() }
      store.insert(stubborn)
      expectStoreError(.notEncodable) { try store.saveChanges() }
      stubborn.whileWriting = nil
      #expect(try fixture.savedTitles() == ["a", "b", "c"])
    }
  }

  @Test("A save to a read-only or closed backend fails and keeps the changes")
  func readOnlyAndClosed() throws {
    let fixture = try Fixture()
    _ = try fixture.store(songs: "a")
    try fixture.backend.close()
    let readOnly = try MemoryBackend(disk: fixture.disk, isReadOnly: true)
    let store = Store(backend: readOnly)
    for type in Fixture.allClasses { try store.register(type) }
    let song = try #require(try store.object(Song.self, rowID: 2))
    song.title = "x"
    expectStoreError(.readOnly) { try store.saveChanges() }
    #expect(store.hasUnsavedChanges && song.title == "x")
    readOnly.close()
    expectStoreError(.closed) { try store.saveChanges() }
    #expect(store.hasUnsavedChanges && song.title == "x")
  }
}
