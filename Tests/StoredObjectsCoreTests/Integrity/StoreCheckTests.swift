import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

@Suite("Checking a store with its classes")
struct StoreCheckTests {
  /// A store with two songs, a list of both, and a named buffer; with checksums.
  private func saved() throws -> (Fixture, Store) {
    let fixture = try Fixture(Song.self, Playlist.self)
    let store = try fixture.store(.init())
    let songs = [Song("a", 1), Song("b", 2)]
    for song in songs { store.insert(song) }
    let list = Playlist()
    list.title = "both"
    list.songs = songs
    store.insert(list)
    try store.setBuffer(named: "Favorite") { $0.write(songs[0]) }
    try store.saveChanges()
    return (fixture, store)
  }

  /// A store with one song, and without checksums, so that records can be planted.
  private func plain() throws -> Fixture {
    let fixture = try Fixture(Song.self, Playlist.self)
    let store = try fixture.store(StoreConfiguration(checksumsRecords: false))
    store.insert(Song("a", 1))
    store.insert(Playlist())
    try store.saveChanges()
    return fixture
  }

  private func kinds(_ fixture: Fixture) throws -> [StoreFinding.Kind] {
    try fixture.store().check().findings.map(\.kind)
  }

  @Test("A store that was only saved is sound, and the report has the number of records")
  func sound() throws {
    let (_, store) = try saved()
    let check = try store.check()
    #expect(check.findings == [] && check.isSound && check.omittedCount == 0)
    #expect(check.classes.map(\.name) == ["Playlist", "Song"])
    #expect(check.classes.map(\.objectCount) == [1, 2])
    #expect(check.classes.map(\.hasChecksums) == [true, true])
    #expect(check.namedBufferCount == 1)
  }

  @Test("A store that was never saved is sound")
  func empty() throws {
    #expect(try Fixture(Song.self).store().check().isSound)
  }

  @Test("A check leaves living objects, faults and unsaved changes as they are")
  func undisturbed() throws {
    let (fixture, _) = try saved()
    let store = try fixture.store()
    let song = try #require(try store.object(Song.self, rowID: 2))
    song.title = "unsaved"
    let fault = try #require(try store.object(Playlist.self, rowID: 2)).songs[1]
    store.insert(Song("new", 3))
    #expect(try store.check().isSound)
    #expect(song.title == "unsaved" && song.hasUnsavedChanges)
    #expect(!fault.hasContent && store.fetchFailures.isEmpty)
    #expect(try store.object(Song.self, rowID: 2) === song)
    try store.saveChanges()
    #expect(try fixture.savedTitles() == ["unsaved", "b", "new"])
  }

  @Test("A reference to a row that does not exist is found, with its row and offset")
  func dangling() throws {
    let (fixture, _) = try saved()
    try fixture.overwrite(Song.self, 3, nil)
    let findings = try fixture.store().check().findings
    #expect(findings.map(\.kind) == [.danglingReference])
    // Version, count and "both", count of songs, the first reference.
    let location = try #require(findings.first?.location)
    #expect(
      location.className == "Playlist" && location.rowID == 2 && location.offset == 1 + 8 + 4 + 4)
    #expect(findings.first?.message.contains("Song row 3") == true)
  }

  @Test("A reference to a row that was never assigned is found")
  func neverGivenOut() throws {
    let fixture = try plain()
    let record: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 99, 0, 0, 0]
    try fixture.overwrite(Playlist.self, 2, record)
    #expect(try kinds(fixture) == [.danglingReference])
  }

  @Test("A record that its class can't read is found, with the offset of the error")
  func notDecodable() throws {
    let fixture = try plain()
    try fixture.overwrite(Song.self, 2, [0, 200, 0, 0, 0, 97])
    let findings = try fixture.store().check().findings
    #expect(findings.map(\.kind) == [.recordDamaged])
    #expect(findings.first?.location.rowID == 2 && findings.first?.location.offset == 1)
  }

  @Test("Remaining bytes are found")
  func leftOver() throws {
    let fixture = try plain()
    let record = try #require(try fixture.record(Song.self, 2))
    try fixture.overwrite(Song.self, 2, record + [7])
    #expect(try kinds(fixture) == [.recordDamaged])
  }

  @Test("A record of a later version than the class has is found")
  func newerVersion() throws {
    let fixture = try plain()
    var record = try #require(try fixture.record(Song.self, 2))
    record[0] = 9
    try fixture.overwrite(Song.self, 2, record)
    #expect(try kinds(fixture) == [.newerVersion])
  }

  @Test("Each flipped bit of a record with a checksum is found, once")
  func checksum() throws {
    let (fixture, _) = try saved()
    let record = try #require(try fixture.record(Song.self, 2))
    for bit in 0..<8 * record.count {
      var flipped = record
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      try fixture.overwrite(Song.self, 2, flipped)
      #expect(try kinds(fixture) == [.checksum])
    }
  }

  @Test("A closed backend is an error, not a finding")
  func closed() throws {
    let (fixture, store) = try saved()
    try fixture.backend.close()
    expectStoreError(.closed) { _ = try store.check() }
  }

  @Test("Progress is reported for each class, up to all of its records")
  func progress() throws {
    let (_, store) = try saved()
    var told: [IntegrityProgress] = []
    _ = try store.check { told.append($0) }
    #expect(told.last { $0.subject == "Song" }?.completed == 3)
  }
}
