import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite struct DiscardTests {
  @Test("A discarded insert leaves the store and keeps its properties")
  func insert() throws {
    let fixture = try Fixture()
    let (store, _) = try fixture.store(songs: "a")
    let song = Song("b", 9)
    store.insert(song)
    store.discardChanges()
    #expect(!store.hasUnsavedChanges && song.store == nil && song.rowID == 0)
    #expect(song.title == "b" && song.seconds == 9)
    #expect(try store.count(of: Song.self) == 1)
    store.insert(song)
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["a", "b"])
  }

  @Test("A discarded update reads the saved values")
  func update() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    songs[0].title = "x"
    store.discardChanges()
    #expect(!store.hasUnsavedChanges && !songs[0].hasContent)
    #expect(songs[0].title == "a" && songs[0].hasContent)
    songs[0].title = "y"
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["y"])
  }

  @Test("A discarded deletion restores the object")
  func delete() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    store.delete(songs[0])
    store.discardChanges()
    #expect(!songs[0].isDeleted && songs[0].store === store && songs[0].rowID == 2)
    #expect(try store.allObjects(of: Song.self) == songs)
    store.delete(songs[0])
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["b"])
  }

  @Test("All changes can be discarded at once, in every state")
  func all() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b", "c", "d")
    songs[0].title = "updated"
    store.delete(songs[0])
    store.delete(songs[1])
    store.insert(songs[1])
    let new = Song("new", 1)
    store.insert(new)
    store.delete(new)
    songs[2].title = "updated"
    store.delete(songs[3])
    songs[3].title = "edited while deleted"
    try store.setBuffer(named: "Name") { $0.write(UInt8(1)) }
    store.discardChanges()
    #expect(!store.hasUnsavedChanges)
    #expect(try store.allObjects(of: Song.self) == songs)
    #expect(songs.map(\.title) == ["a", "b", "c", "d"])
    #expect(new.store == nil && new.title == "new" && !new.isDeleted)
    #expect(try store.bufferNames() == [])
    let commits = fixture.backend.commitCount
    try store.saveChanges()
    #expect(fixture.backend.commitCount == commits)
  }

  @Test("Delete rules that empty a list are undone with the deletion")
  func deleteRules() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let parent = Node("parent")
    parent.children = [Node("a"), Node("b")]
    parent.cascades = true
    for node in [parent] + parent.children { store.insert(node) }
    try store.saveChanges()
    store.delete(parent)
    #expect(try store.count(of: Node.self) == 0 && parent.children.isEmpty)
    store.discardChanges()
    #expect(parent.children.map(\.name) == ["a", "b"])
    parent.name = "renamed"
    try store.saveChanges()
    let saved = try #require(try fixture.store().object(Node.self, rowID: 2))
    #expect(saved.children.map(\.name) == ["a", "b"])
  }

  @Test("Discarding without changes does nothing")
  func nothing() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    store.discardChanges()
    #expect(songs[0].hasContent && !store.hasUnsavedChanges)
  }

  @Test("A discarded insert can be inserted in another store")
  func otherStore() throws {
    let fixture = try Fixture()
    let (store, _) = try fixture.store(songs: "a")
    let other = try fixture.store()
    let song = Song("b", 1)
    store.insert(song)
    store.discardChanges()
    other.insert(song)
    #expect(song.store === other)
    try other.saveChanges()
    #expect(try fixture.savedTitles() == ["a", "b"])
  }
}
