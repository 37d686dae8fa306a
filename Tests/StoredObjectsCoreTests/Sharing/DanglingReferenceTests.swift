import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// One store deletes what another one refers to, and neither merges.
@Suite("References to objects that another store deletes")
struct DanglingReferenceTests {
  private func playlist(_ title: String, _ songs: [Song]) -> Playlist {
    let list = Playlist()
    (list.title, list.songs) = (title, songs)
    return list
  }

  private func twoStores(
    _ fixture: Fixture
  ) throws -> (Store, [Song], Playlist, Store, [Song], Playlist) {
    let (first, songs) = try fixture.store(songs: "a", "b")
    let list = playlist("x", [songs[0]])
    first.insert(list)
    try first.saveChanges()
    let second = try fixture.store()
    let others = try second.allObjects(of: Song.self)
    let otherList = try #require(try second.object(Playlist.self, rowID: 2))
    return (first, songs, list, second, others, otherList)
  }

  private func savedSongs(_ fixture: Fixture, row: UInt32 = 2) throws -> [String]? {
    let store = try fixture.store()
    #expect(try store.check().findings == [])
    return try store.object(Playlist.self, rowID: row)?.songs.map(\.title)
  }

  @Test(
    "A new reference to a song that another store has deleted is a conflict, merged or not",
    arguments: [false, true])
  func deletedFirst(merges: Bool) throws {
    let fixture = try Fixture()
    let (first, songs, _, second, others, list) = try twoStores(fixture)
    first.delete(songs[1])
    try first.saveChanges()
    if merges { second.mergeChanges() }
    list.songs.append(others[1])
    let error = expectStoreError(.conflict) { try second.saveChanges() }
    #expect(error?.location.className == "Playlist" && error?.location.rowID == 2)
    #expect(error?.message.contains("Song row 3") == true)
    #expect(try savedSongs(fixture) == ["a"])
    second.discardChanges()
    #expect(list.songs.map(\.title) == ["a"])
    list.title = "y"
    try second.saveChanges()
    #expect(try savedSongs(fixture) == ["a"])
  }

  @Test("Keeping the store's changes drops the reference, and later saves succeed")
  func keepWithoutReference() throws {
    let fixture = try Fixture()
    let (first, songs, _, second, others, list) = try twoStores(fixture)
    first.delete(songs[1])
    try first.saveChanges()
    list.songs.append(others[1])
    list.title = "mine"
    let node = Node("refers in every way")
    second.insert(node)
    (node.anything, node.mixed) = (others[1], [others[0], others[1]])
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    #expect(list.songs == [others[0]] && list.title == "mine")
    #expect(node.anything == nil && node.mixed == [others[0]])
    try second.saveChanges()
    #expect(try savedSongs(fixture) == ["a"])
    list.title = "later"
    try second.saveChanges()
    #expect(second.fetchFailures.isEmpty)
  }

  @Test("A deletion between the edit and the save, or during the save, is found")
  func deletedLater() throws {
    let fixture = try Fixture()
    let (first, songs, _, second, others, list) = try twoStores(fixture)
    list.songs.append(others[1])
    let stubborn = Stubborn(1)
    second.insert(stubborn)
    first.delete(songs[1])
    var saves = 0
    stubborn.whileWriting = { _ in
      saves += 1
      if saves == 1 { try first.saveChanges() }
    }
    expectStoreError(.conflict) { try second.saveChanges() }
    #expect(saves == 1)
    #expect(try savedSongs(fixture) == ["a"])
  }

  @Test(
    "Deleting a song to which another store has added a reference is a conflict, merged or not",
    arguments: [false, true], [false, true])
  func referredFirst(merges: Bool, inNewList: Bool) throws {
    let fixture = try Fixture()
    let (first, songs, list, second, others, otherList) = try twoStores(fixture)
    first.delete(songs[1])
    if inNewList {
      second.insert(playlist("new", [others[1]]))
    } else {
      otherList.songs.append(others[1])
    }
    try second.saveChanges()
    if merges { first.mergeChanges() }
    let error = expectStoreError(.conflict) { try first.saveChanges() }
    #expect(error?.location.className == "Song" && error?.location.rowID == 3)
    #expect(error?.message.contains("Playlist row \(inNewList ? 3 : 2)") == true)
    first.keepConflictingChanges()
    try first.saveChanges()
    #expect(list.songs == [songs[0]])
    #expect(try savedSongs(fixture, row: inNewList ? 3 : 2) == (inNewList ? [] : ["a"]))
  }

  @Test("Discarding the deletion keeps theirs, and deleting again is not a conflict")
  func discardDeletion() throws {
    let fixture = try Fixture()
    let (first, songs, list, second, others, otherList) = try twoStores(fixture)
    otherList.songs.append(others[1])
    try second.saveChanges()
    first.delete(songs[1])
    expectStoreError(.conflict) { try first.saveChanges() }
    first.discardChanges()
    #expect(list.songs == songs)
    list.songs = []
    first.delete(songs[1])
    try first.saveChanges()
    #expect(try savedSongs(fixture) == [])
  }

  @Test("A row that another store restores can be referred to again")
  func broughtBack() throws {
    let fixture = try Fixture()
    let (first, songs, _, second, others, list) = try twoStores(fixture)
    first.undoManager = StoreUndoManager()
    first.delete(songs[1])
    try first.saveChanges()
    second.mergeChanges()
    try first.undoManager?.undo()
    try first.saveChanges()
    list.songs.append(others[1])
    try second.saveChanges()
    #expect(others[1].title == "b")
    #expect(try savedSongs(fixture) == ["a", "b"])
  }

  @Test("A packed list has the same conflicts")
  func packedLists() throws {
    let disk = MemoryDisk()
    let first = try listedStore(disk)
    let second = Store(backend: first.backend)
    try second.register(Clip.self, Reel.self, Box.self, Shelf.self)
    let clips = [Clip("a"), Clip("b")]
    for clip in clips { first.insert(clip) }
    first.insert(Box())
    try first.saveChanges()
    let box = try #require(try second.object(Box.self, rowID: 2))
    // A list that was read, and an object that nobody holds.
    box.seen.append(try #require(try second.object(Clip.self, rowID: 2)))
    box.seen.append(try #require(try second.object(Clip.self, rowID: 3)))
    first.delete(clips[1])
    try first.saveChanges()
    expectStoreError(.conflict) { try second.saveChanges() }
    second.keepConflictingChanges()
    try second.saveChanges()
    #expect(box.seen.rowIDs == [2])
    #expect(try second.check().findings == [])
  }

  @Test("An object whose row another store has deleted is restored if its changes are kept")
  func keepUpdateOfDeleted() throws {
    let fixture = try Fixture()
    let (first, songs, _, second, others, list) = try twoStores(fixture)
    first.delete(songs[1])
    try first.saveChanges()
    others[1].title = "mine"
    list.songs.append(others[1])
    expectStoreError(.conflict) { try second.saveChanges() }
    #expect(try second.count(of: Song.self) == 1)
    second.keepConflictingChanges()
    #expect(try second.count(of: Song.self) == 2)
    #expect(try second.allObjects(of: Song.self) == others)
    try second.saveChanges()
    #expect(try savedSongs(fixture) == ["a", "mine"])
  }
}
