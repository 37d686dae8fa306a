import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite struct VersionTests {
  private func oldLetters(_ fixture: Fixture, _ count: Int) throws {
    let store = Store(backend: fixture.backend)
    try store.register(OldLetter.self)
    for number in 0..<count {
      let letter = OldLetter()
      letter.text = "\(number)"
      store.insert(letter)
    }
    try store.saveChanges()
    try fixture.reopen()
  }

  private func newStore(_ fixture: Fixture) throws -> Store {
    let store = Store(backend: fixture.backend)
    try store.register(NewLetter.self)
    return store
  }

  private func versions(_ fixture: Fixture, _ count: Int) throws -> [UInt8?] {
    try (0..<count).map { try fixture.record(NewLetter.self, UInt32($0) + 2)?.first }
  }

  @Test("An object has the version that its record was written with")
  func readVersion() throws {
    let fixture = try Fixture(OldLetter.self)
    try oldLetters(fixture, 3)
    let store = try newStore(fixture)
    let letters = try store.allObjects(of: NewLetter.self)
    #expect(letters.map(\.readVersion) == [0, 0, 0])
    #expect(letters.map(\.text) == ["0", "1", "2"])
    letters[1].stamp = 9
    try store.saveChanges()
    #expect(try versions(fixture, 3) == [0, 3, 0])
    let again = try newStore(fixture)
    let saved = try again.allObjects(of: NewLetter.self)
    #expect(saved.map(\.readVersion) == [0, 3, 0] && saved.map(\.stamp) == [0, 9, 0])
  }

  @Test("The metadata row has the highest version that has saved, and older ones can't save")
  func metadataVersion() throws {
    let fixture = try Fixture(OldLetter.self)
    try oldLetters(fixture, 2)
    #expect(try fixture.record(OldLetter.self, 1)?[4] == 0)
    let store = try newStore(fixture)
    try store.object(NewLetter.self, rowID: 2)?.stamp = 1
    try store.saveChanges()
    #expect(try fixture.record(OldLetter.self, 1)?[4] == 3)
    let old = try fixture.store()
    try old.object(OldLetter.self, rowID: 3)?.text = "x"
    expectStoreError(.newerVersion) { try old.saveChanges() }
    #expect(try fixture.record(OldLetter.self, 1)?[4] == 3)
    #expect(try versions(fixture, 2) == [3, 0])
  }

  @Test("A program that is open when a new one saves can't save the class any more")
  func newerBeside() throws {
    let fixture = try Fixture(OldLetter.self)
    try oldLetters(fixture, 3)
    let old = try fixture.store()
    let read = try #require(try old.object(OldLetter.self, rowID: 3))
    #expect(read.text == "1")
    read.text = "before"
    try old.saveChanges()
    let new = try newStore(fixture)
    try new.object(NewLetter.self, rowID: 2)?.stamp = 1
    try new.saveChanges()
    read.text = "after"
    let error = expectStoreError(.newerVersion) { try old.saveChanges() }
    #expect(error?.location.className == "Letter")
    expectStoreError(.newerVersion) { _ = try old.object(OldLetter.self, rowID: 2) }
    #expect(try fixture.record(OldLetter.self, 1)?[4] == 3)
    let letters = try newStore(fixture).allObjects(of: NewLetter.self)
    #expect(letters.map(\.text) == ["0", "before", "2"])
  }

  @Test("An old program refuses records of a new one, and reads the others")
  func newerRecord() throws {
    let fixture = try Fixture(OldLetter.self)
    try oldLetters(fixture, 2)
    let store = try newStore(fixture)
    try store.object(NewLetter.self, rowID: 2)?.stamp = 1
    try store.saveChanges()
    try fixture.reopen()
    let old = try fixture.store()
    let error = expectStoreError(.newerVersion) { _ = try old.object(OldLetter.self, rowID: 2) }
    #expect(error?.location.rowID == 2)
    #expect(try old.object(OldLetter.self, rowID: 3)?.text == "1")
  }

  @Test("An upgrade rewrites old records, batch by batch, and reports its progress")
  func upgrade() throws {
    let fixture = try Fixture(OldLetter.self)
    try oldLetters(fixture, 10)
    let store = try newStore(fixture)
    try store.object(NewLetter.self, rowID: 4)?.stamp = 1
    try store.saveChanges()
    var progress: [[Int]] = []
    let commits = fixture.backend.commitCount
    let count = try store.upgradeObjects(of: NewLetter.self, batchSize: 4) {
      progress.append([$0, $1])
    }
    #expect(count == 9 && progress == [[4, 9], [8, 9], [9, 9]])
    // The last one says that no record has the old layout.
    #expect(fixture.backend.commitCount == commits + 4)
    #expect(try versions(fixture, 10) == Array(repeating: 3, count: 10))
    #expect(try store.upgradeObjects(of: NewLetter.self) == 0)
    #expect(
      try newStore(fixture).allObjects(of: NewLetter.self).map(\.text)
        == (0..<10).map { "\($0)" })
  }

  @Test("An upgrade that fails keeps its finished batches; the next call does the rest")
  func resume() throws {
    let fixture = try Fixture(OldLetter.self)
    try oldLetters(fixture, 10)
    let store = try newStore(fixture)
    fixture.backend.failCommits(after: 2)
    expectStoreError(.ioError) { try store.upgradeObjects(of: NewLetter.self, batchSize: 3) }
    #expect(try versions(fixture, 10).filter { $0 == 3 }.count == 6)
    #expect(!store.hasUnsavedChanges)
    #expect(try store.upgradeObjects(of: NewLetter.self, batchSize: 3) == 4)
    #expect(try versions(fixture, 10).allSatisfy { $0 == 3 })
  }

  @Test("An upgrade that meets a damaged record leaves no changes behind")
  func damagedWhileUpgrading() throws {
    let fixture = try Fixture(OldLetter.self)
    try oldLetters(fixture, 6)
    try fixture.overwrite(OldLetter.self, 6, [0, 99])
    let store = try newStore(fixture)
    expectStoreError(.damaged) { try store.upgradeObjects(of: NewLetter.self, batchSize: 3) }
    #expect(!store.hasUnsavedChanges)
    #expect(try versions(fixture, 6) == [3, 3, 3, 0, 0, 0])
  }

  @Test("An upgrade with unsaved changes is refused")
  func unsavedChanges() throws {
    let fixture = try Fixture(OldLetter.self)
    try oldLetters(fixture, 2)
    let store = try newStore(fixture)
    store.insert(NewLetter())
    expectStoreError(.unsavedChanges) { try store.upgradeObjects(of: NewLetter.self) }
    #expect(store.hasUnsavedChanges)
  }

  @Test("Records without versions need a setting, and classes keep it")
  func unversioned() throws {
    let fixture = try Fixture(Song.self)
    let store = try fixture.store(
      StoreConfiguration(versionsRecords: false, checksumsRecords: false))
    store.insert(Song("a", 1))
    try store.saveChanges()
    #expect(try fixture.record(Song.self, 2) == [1, 0, 0, 0, 97, 1, 0, 0, 0])
    try fixture.reopen()
    let other = try fixture.store()
    let song = try #require(try other.object(Song.self, rowID: 2))
    #expect(song.title == "a")
    song.title = "b"
    try other.saveChanges()
    #expect(try fixture.record(Song.self, 2) == [1, 0, 0, 0, 98, 1, 0, 0, 0])
  }
}
