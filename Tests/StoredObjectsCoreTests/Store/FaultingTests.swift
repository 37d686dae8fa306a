import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite struct FaultingTests {
  /// A playlist of three songs, reopened: its songs are faults.
  private func faults(_ fixture: Fixture) throws -> (Store, Playlist, [Song]) {
    let (first, songs) = try fixture.store(songs: "a", "b", "c")
    let list = Playlist()
    list.songs = songs
    first.insert(list)
    try first.saveChanges()
    try fixture.reopen()
    let store = try fixture.store()
    let saved = try #require(try store.object(Playlist.self, rowID: list.rowID))
    return (store, saved, saved.songs)
  }

  @Test("A reference is a fault until a property is read")
  func fault() throws {
    let fixture = try Fixture()
    let (_, _, songs) = try faults(fixture)
    #expect(songs.map(\.hasContent) == [false, false, false])
    let reads = fixture.backend.readCount
    #expect(songs[1].title == "b" && songs[1].seconds == 1)
    #expect(fixture.backend.readCount == reads + 1)
    #expect(songs.map(\.hasContent) == [false, true, false])
    try songs[0].fetchContent()
    songs[2].checkForContent()
    #expect(songs.map(\.hasContent) == [true, true, true])
    try songs[0].fetchContent()
    #expect(fixture.backend.readCount == reads + 3)
  }

  @Test("Setting one property of a fault keeps the others")
  func setFault() throws {
    let fixture = try Fixture()
    let (store, _, songs) = try faults(fixture)
    songs[0].seconds = 99
    songs[1].willUpdate()
    try store.saveChanges()
    let saved = try #require(try fixture.store().object(Song.self, rowID: songs[0].rowID))
    #expect(saved.title == "a" && saved.seconds == 99)
    #expect(try fixture.savedTitles() == ["a", "b", "c"])
  }

  @Test("A missing record gives defaults, is reported, and stops saves until acknowledged")
  func missingRecord() throws {
    let fixture = try Fixture()
    let (store, list, songs) = try faults(fixture)
    try fixture.overwrite(Song.self, songs[1].rowID, nil)
    #expect(songs[1].title == "" && songs[1].seconds == 0)
    #expect(store.fetchFailures.map(\.rowID) == [songs[1].rowID])
    #expect(store.fetchFailures.first?.className == "Song")
    #expect(store.fetchFailures.first?.error.code == .recordMissing)
    list.title = "x"
    let error = expectStoreError(.contentUnavailable) { try store.saveChanges() }
    #expect(error?.location.rowID == songs[1].rowID)
    expectStoreError(.recordMissing) { try songs[1].fetchContent() }
    store.acknowledgeFetchFailures()
    try store.saveChanges()
    #expect(store.fetchFailures.isEmpty)
  }

  @Test("A change to an object whose record is damaged never overwrites the record")
  func damagedRecord() throws {
    let fixture = try Fixture()
    let (store, _, songs) = try faults(fixture)
    let damaged: [UInt8] = [0, 200, 0, 0, 0, 97]
    try fixture.overwrite(Song.self, songs[0].rowID, damaged)
    songs[0].title = "written over a default"
    #expect(!songs[0].hasUnsavedChanges && !songs[0].hasContent)
    #expect(store.fetchFailures.first?.error.code == .damaged)
    #expect(store.fetchFailures.first?.error.location.offset == 1)
    songs[1].title = "b2"
    expectStoreError(.contentUnavailable) { try store.saveChanges() }
    store.acknowledgeFetchFailures()
    try store.saveChanges()
    #expect(try fixture.record(Song.self, songs[0].rowID) == damaged)
    expectStoreError(.damaged) { _ = try store.object(Song.self, rowID: songs[0].rowID) }
    expectStoreError(.damaged) { _ = try store.allObjects(of: Song.self) }
    // Once the record is good again, so is the object.
    try fixture.overwrite(Song.self, songs[0].rowID, [0, 1, 0, 0, 0, 98, 5, 0, 0, 0])
    #expect(songs[0].title == "b" && songs[0].seconds == 5)
  }

  @Test("Records of every wrong length are damaged, never a trap")
  func wrongLengths() throws {
    let fixture = try Fixture()
    let (store, _, songs) = try faults(fixture)
    let good: [UInt8] = [0, 1, 0, 0, 0, 98, 5, 0, 0, 0]
    for length in 0..<good.count {
      try fixture.overwrite(Song.self, songs[0].rowID, Array(good[..<length]))
      expectStoreError(.damaged) { try songs[0].fetchContent() }
    }
    try fixture.overwrite(Song.self, songs[0].rowID, good + [1])
    let error = expectStoreError(.damaged) { try songs[0].fetchContent() }
    #expect((error?.underlying as? DataBufferError)?.code == .unreadBytes)
    #expect(error?.location.offset == 10 && error?.location.rowID == songs[0].rowID)
    #expect(store.fetchFailures.isEmpty)
  }

  @Test("A record of a newer class version is refused, and kept")
  func newerVersion() throws {
    let fixture = try Fixture()
    let (store, _, songs) = try faults(fixture)
    let newer: [UInt8] = [1, 1, 0, 0, 0, 98, 5, 0, 0, 0]
    try fixture.overwrite(Song.self, songs[0].rowID, newer)
    expectStoreError(.newerVersion) { try songs[0].fetchContent() }
    songs[0].title = "x"
    #expect(store.fetchFailures.first?.error.code == .newerVersion)
    store.acknowledgeFetchFailures()
    try store.saveChanges()
    #expect(try fixture.record(Song.self, songs[0].rowID) == newer)
  }

  @Test("A failure to read can be temporary: the next use of the object tries again")
  func transientFailure() throws {
    let fixture = try Fixture()
    let (store, _, songs) = try faults(fixture)
    fixture.backend.failReads()
    #expect(songs[0].title == "")
    #expect(store.fetchFailures.map(\.error.code) == [.ioError])
    #expect(songs[0].title == "a")
    store.acknowledgeFetchFailures()
    songs[0].seconds = 3
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["a", "b", "c"])
  }

  @Test("Content that can't be read while an object is written fails the save")
  func failureWhileWriting() throws {
    let fixture = try Fixture()
    let (store, _, songs) = try faults(fixture)
    try fixture.overwrite(Song.self, songs[0].rowID, nil)
    let writer = Stubborn(1)
    writer.whileWriting = { buffer in buffer.write(songs[0].title) }
    store.insert(writer)
    expectStoreError(.contentUnavailable) { try store.saveChanges() }
    #expect(store.hasUnsavedChanges)
    #expect(try fixture.record(Stubborn.self, writer.rowID) == nil)
  }

  @Test("Discarding changes empties the list of failures")
  func discard() throws {
    let fixture = try Fixture()
    let (store, _, songs) = try faults(fixture)
    try fixture.overwrite(Song.self, songs[0].rowID, nil)
    _ = (songs[0].title, songs[0].seconds, songs[0].title)
    #expect(store.fetchFailures.count == 1)
    store.discardChanges()
    #expect(store.fetchFailures.isEmpty)
    songs[1].title = "b2"
    try store.saveChanges()
    #expect(try fixture.store().object(Song.self, rowID: songs[1].rowID)?.title == "b2")
  }

  @Test("A damaged object can be deleted")
  func deleteDamaged() throws {
    let fixture = try Fixture()
    let (store, list, songs) = try faults(fixture)
    try fixture.overwrite(Song.self, songs[0].rowID, [9])
    list.songs.removeFirst()
    store.delete(songs[0])
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["b", "c"])
  }

  @Test("An object in no store is not a fault")
  func noStore() throws {
    let song = Song("a", 1)
    #expect(song.hasContent)
    try song.fetchContent()
    song.willUpdate()
    #expect(!song.hasUnsavedChanges)
  }
}
