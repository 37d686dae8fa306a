import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite struct RowIDTests {
  private func insert(_ store: Store) -> UInt32 {
    let song = Song("x", 1)
    store.insert(song)
    return song.rowID
  }

  @Test("Objects start at row 2, and each class counts by itself")
  func first() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    #expect(insert(store) == 2 && insert(store) == 3)
    let list = Playlist()
    store.insert(list)
    #expect(list.rowID == 2)
  }

  @Test("The row of a deleted object is never assigned again")
  func afterDelete() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b", "c")
    for song in songs { store.delete(song) }
    try store.saveChanges()
    #expect(insert(store) == 5)
    try store.saveChanges()
    try fixture.reopen()
    let other = try fixture.store()
    try other.delete(#require(try other.object(Song.self, rowID: 5)))
    try other.saveChanges()
    try fixture.reopen()
    #expect(insert(try fixture.store()) == 6)
  }

  @Test("A discarded row is not assigned again while the backend is open")
  func afterDiscard() throws {
    let fixture = try Fixture()
    let (store, _) = try fixture.store(songs: "a")
    let row = insert(store)
    store.discardChanges()
    #expect(insert(store) == row + 1)
    fixture.backend.failCommits()
    expectStoreError(.ioError) { try store.saveChanges() }
    #expect(insert(store) == row + 2)
    store.discardChanges()
    #expect(insert(try fixture.store()) == row + 3)
  }

  @Test("Stores on one backend never get the same row")
  func severalStores() throws {
    let fixture = try Fixture()
    let stores = try (0..<3).map { _ in try fixture.store() }
    var rows: [UInt32] = []
    for _ in 0..<20 { rows += stores.map { insert($0) } }
    #expect(Set(rows).count == 60)
    for store in stores.reversed() { try store.saveChanges() }
    #expect(try fixture.store().count(of: Song.self) == 60)
    try fixture.reopen()
    #expect(insert(try fixture.store()) == 62)
  }

  @Test("A save that only updates never lowers the last row")
  func updateKeepsLastRow() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    let metadata = try fixture.record(Song.self, 1)
    songs[0].title = "a2"
    store.delete(songs[1])
    try store.saveChanges()
    #expect(try fixture.record(Song.self, 1) == metadata)
  }

  @Test("If all rows are used, the save throws, and other classes can still be saved")
  func exhausted() throws {
    let fixture = try Fixture(Song.self, Playlist.self)
    try fixture.overwrite(Song.self, 1, [0xFF, 0xFF, 0xFF, 0xFF, 0, 0])
    try fixture.overwrite(Song.self, 2, [0, 1, 0, 0, 0, 97, 1, 0, 0, 0])
    let store = try fixture.store()
    let (one, other) = (Song("no row", 1), Song("no row either", 1))
    store.insert(one)
    store.insert(other)
    expectStoreError(.rowIDsExhausted) { try store.saveChanges() }
    #expect(try store.count(of: Song.self) == 3)
    store.delete(one)
    expectStoreError(.rowIDsExhausted) { try store.saveChanges() }
    store.discardChanges()
    #expect(one.store == nil && other.store == nil)
    store.insert(Playlist())
    try store.saveChanges()
    try store.object(Song.self, rowID: 2)?.title = "b"
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["b"])
  }
}
