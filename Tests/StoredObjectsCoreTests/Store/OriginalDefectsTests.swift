import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

// Defects of the original BNRPersistence that this library must not have. Other tests cover two
// processes that open the same files, transactions and syncing that were off by default, and the
// text index outside the transaction. EncryptionTests cover encrypted faults, and the tests of
// DataBuffer cover reads beyond the end of a buffer.

@Suite struct OriginalDefectsTests {
  @Test("The version byte is consumed once, for objects in memory and for faults")
  func versionByte() throws {
    let fixture = try Fixture(OldLetter.self)
    let store = try fixture.store()
    let letter = OldLetter()
    letter.text = "text"
    store.insert(letter)
    try store.saveChanges()
    store.refresh(letter)
    try letter.fetchContent()
    #expect(letter.text == "text")
    try fixture.reopen()
    let other = try fixture.store()
    #expect(try other.object(OldLetter.self, rowID: 2)?.text == "text")
    try other.setBuffer(named: "letter") { $0.write(try other.object(OldLetter.self, rowID: 2)) }
    var buffer = try #require(try other.buffer(named: "letter"))
    #expect(try buffer.readObject(of: OldLetter.self)?.text == "text")
  }

  @Test("All objects include unsaved inserts and leave out unsaved deletes")
  func unsavedChangesAreSeen() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    store.delete(songs[0])
    store.insert(Song("c", 1))
    #expect(try store.allObjects(of: Song.self).map(\.title) == ["b", "c"])
  }

  @Test("A fetch does not overwrite unsaved edits")
  func fetchKeepsEdits() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    songs[0].title = "edited"
    _ = try store.allObjects(of: Song.self)
    try store.enumerate(Song.self) { _, _ in }
    _ = try store.object(Song.self, rowID: 2)
    try songs[0].fetchContent()
    #expect(songs[0].title == "edited")
  }

  @Test("A nested enumeration does not restart the outer one")
  func nestedEnumeration() throws {
    let fixture = try Fixture()
    let (store, _) = try fixture.store(songs: "a", "b", "c")
    var titles: [String] = []
    try store.enumerate(Song.self) { song, _ in
      titles.append(song.title)
      try store.enumerate(Song.self) { _, _ in }
      #expect(titles.count < 10)
    }
    #expect(titles.sorted() == ["a", "b", "c"])
  }

  @Test("References of unknown class lead to the same classes in another order of registration")
  func classOrder() throws {
    let fixture = try Fixture()
    let (first, songs) = try fixture.store(songs: "a")
    try first.setBuffer(named: "any") { $0.writeAny(songs[0]) }
    try first.saveChanges()
    try fixture.reopen()
    let store = Store(backend: fixture.backend)
    try store.register(Playlist.self, Song.self)
    var buffer = try #require(try store.buffer(named: "any"))
    #expect((try buffer.readAnyObject() as? Song)?.title == "a")
  }

  @Test("A record that ends too early is an error with its place, not memory of something else")
  func boundsChecks() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    try fixture.overwrite(Song.self, 2, [0, 0xFF, 0xFF, 0xFF, 0x7F, 97])
    store.refresh(songs[0])
    let error = expectStoreError(.damaged) { try songs[0].fetchContent() }
    #expect(
      error?.location.className == "Song" && error?.location.rowID == 2
        && error?.location.offset == 1)
  }

  @Test("An empty string reads back as one")
  func emptyString() throws {
    let fixture = try Fixture()
    let (store, _) = try fixture.store(songs: "")
    try store.setBuffer(named: "texts") {
      $0.write("" as String?)
      $0.write(nil as String?)
    }
    try store.saveChanges()
    try fixture.reopen()
    let other = try fixture.store()
    #expect(try other.object(Song.self, rowID: 2)?.title == "")
    var buffer = try #require(try other.buffer(named: "texts"))
    #expect(try buffer.read(String?.self) == .some(""))
    #expect(try buffer.read(String?.self) == .none)
  }

  @Test("A failed save drops nothing, has a reason, and can be tried again")
  func failedSave() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    store.delete(songs[0])
    fixture.backend.failCommits(with: .init(.noSpace, "The disk is full."))
    #expect(expectStoreError(.noSpace) { try store.saveChanges() }?.message == "The disk is full.")
    #expect(songs[0].isDeleted)
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["b"])
  }

  @Test("A save by a new class version raises the version in the metadata row")
  func metadataVersion() throws {
    let fixture = try Fixture(OldLetter.self)
    let store = try fixture.store()
    store.insert(OldLetter())
    try store.saveChanges()
    #expect(try fixture.record(OldLetter.self, 1)?[4] == 0)
    let new = Store(backend: fixture.backend)
    try new.register(NewLetter.self)
    new.insert(NewLetter())
    try new.saveChanges()
    #expect(try fixture.record(OldLetter.self, 1)?[4] == 3)
  }

  @Test("A nil reference of unknown class can be written and read")
  func nilReference() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let node = Node("n")
    store.insert(node)
    try store.saveChanges()
    store.refresh(node)
    try node.fetchContent()
    #expect(node.anything == nil && node.name == "n")
  }
}
