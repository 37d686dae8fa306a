import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite struct EditingTests {
  @Test("An inserted object has its row at once and its record after the save")
  func insert() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let song = Song("a", 1)
    #expect(song.store == nil && song.rowID == 0 && !song.hasUnsavedChanges)
    store.insert(song)
    #expect(song.store === store && song.rowID == 2 && song.hasUnsavedChanges)
    #expect(try fixture.record(Song.self, 2) == nil)
    #expect(store.hasUnsavedChanges)
    try store.saveChanges()
    #expect(try fixture.record(Song.self, 2) == [0, 1, 0, 0, 0, 97, 1, 0, 0, 0])
    #expect(!store.hasUnsavedChanges && !song.hasUnsavedChanges && song.hasContent)
  }

  @Test("Inserting twice equals inserting once")
  func insertTwice() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let song = Song("a", 1)
    store.insert(song)
    store.insert(song)
    #expect(try store.count(of: Song.self) == 1)
    try store.saveChanges()
    store.insert(song)
    #expect(!store.hasUnsavedChanges)
    #expect(try store.allObjects(of: Song.self) == [song])
  }

  @Test("Inserting and deleting before a save leaves nothing to save")
  func insertDelete() throws {
    let fixture = try Fixture()
    let (store, _) = try fixture.store(songs: "kept")
    let song = Song("a", 1)
    store.insert(song)
    let rowID = song.rowID
    store.delete(song)
    #expect(!store.hasUnsavedChanges && !song.hasUnsavedChanges)
    #expect(try store.count(of: Song.self) == 1)
    let commits = fixture.backend.commitCount
    try store.saveChanges()
    #expect(fixture.backend.commitCount == commits)
    #expect(song.store == nil && song.rowID == 0 && song.title == "a" && !song.isDeleted)
    store.insert(song)
    #expect(song.rowID > rowID)
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["kept", "a"])
  }

  @Test("Inserting, deleting and inserting again equals inserting, with the same row")
  func insertDeleteInsert() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let song = Song("a", 1)
    store.insert(song)
    store.delete(song)
    song.title = "edited while deleted"
    store.insert(song)
    #expect(song.rowID == 2 && song.hasUnsavedChanges && !song.isDeleted)
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["edited while deleted"])
  }

  @Test("An update is one change, however many properties it sets")
  func update() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    songs[0].title = "a2"
    songs[0].seconds = 7
    #expect(songs[0].hasUnsavedChanges && !songs[1].hasUnsavedChanges && store.hasUnsavedChanges)
    #expect(try fixture.savedTitles() == ["a", "b"])
    try store.saveChanges()
    #expect(!store.hasUnsavedChanges && !songs[0].hasUnsavedChanges)
    #expect(try fixture.savedTitles() == ["a2", "b"])
    songs[0].title = "a3"
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["a3", "b"])
  }

  @Test("A deleted object leaves the store with the save")
  func delete() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    store.delete(songs[0])
    store.delete(songs[0])
    #expect(songs[0].isDeleted && songs[0].store === store)
    #expect(try store.count(of: Song.self) == 1)
    #expect(try fixture.savedTitles() == ["a", "b"])
    try store.saveChanges()
    #expect(songs[0].store == nil && songs[0].rowID == 0 && !songs[0].isDeleted)
    #expect(songs[0].title == "a")
    #expect(try fixture.savedTitles() == ["b"])
    store.delete(songs[0])
    #expect(!store.hasUnsavedChanges)
  }

  @Test("Deleting an updated object removes it; undoing that keeps the update")
  func updateDeleteInsert() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    songs[0].title = "a2"
    songs[1].title = "b2"
    store.delete(songs[0])
    store.delete(songs[1])
    store.insert(songs[1])
    #expect(try store.count(of: Song.self) == 1)
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["b2"])
  }

  @Test("An undone deletion is not a change")
  func undelete() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    store.delete(songs[0])
    store.insert(songs[0])
    #expect(!store.hasUnsavedChanges && !songs[0].isDeleted && songs[0].rowID == 2)
    try store.saveChanges()
    #expect(songs[0].store === store)
    #expect(try fixture.savedTitles() == ["a"])
    songs[0].title = "still tracked"
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["still tracked"])
  }

  @Test("An edit of a deleted object is saved if the deletion is undone")
  func editWhileDeleted() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    store.delete(songs[0])
    songs[0].title = "edited"
    store.insert(songs[0])
    #expect(songs[0].hasUnsavedChanges)
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["edited"])
  }

  @Test("A deleted and saved object can be inserted again, faults as well")
  func reinsert() throws {
    let fixture = try Fixture()
    _ = try fixture.store(songs: "a", "b")
    try fixture.reopen()
    let store = try fixture.store()
    let list = Playlist()
    try store.setBuffer(named: "Songs") {
      $0.write(try store.allObjects(of: Song.self))
    }
    try store.saveChanges()
    var buffer = try #require(try fixture.store().buffer(named: "Songs"))
    let songs = try buffer.readObjects(of: Song.self)
    let owner = try #require(songs.first?.store)
    #expect(!songs[0].hasContent)
    owner.delete(songs[0])
    try owner.saveChanges()
    owner.insert(songs[0])
    list.songs = [songs[0]]
    owner.insert(list)
    try owner.saveChanges()
    #expect(songs[0].rowID == 4)
    #expect(try fixture.savedTitles() == ["b", "a"])
  }

  @Test("A save without changes writes nothing")
  func emptySave() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    try store.saveChanges()
    #expect(fixture.backend.commitCount == 0)
    #expect(try fixture.backend.tableNames() == [])
  }

  @Test("One save is one commit, whatever it changes")
  func oneCommit() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b", "c")
    let list = Playlist()
    list.songs = [songs[0], songs[0]]
    store.insert(list)
    songs[1].title = "b2"
    store.delete(songs[2])
    try store.setBuffer(named: "Favorite") { $0.write(songs[0]) }
    let commits = fixture.backend.commitCount
    try store.saveChanges()
    #expect(fixture.backend.commitCount == commits + 1)
    #expect(try fixture.savedTitles() == ["a", "b2"])
    #expect(try fixture.store().allObjects(of: Playlist.self).map(\.songs.count) == [2])
  }
}
