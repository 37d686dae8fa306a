import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Checksums of records and named buffers")
struct ChecksumTests {
  private func savedSong(_ fixture: Fixture) throws -> [UInt8] {
    let store = try fixture.store(.init())
    store.insert(Song("Für Elise", 177))
    store.insert(Song("b", 2))
    try store.setBuffer(named: "Favorite") { $0.write(UInt32(3)) }
    try store.saveChanges()
    return try #require(try fixture.record(Song.self, 2))
  }

  @Test(
    "A record ends with the checksum of its class, row and bytes, as the format page defines it")
  func bytes() throws {
    let fixture = try Fixture(Song.self)
    let store = try fixture.store(.init())
    store.insert(Song("Walking on Sunshine", 298))
    try store.saveChanges()
    let record = try #require(try fixture.record(Song.self, 2))
    #expect(record.suffix(8) == [0x2A, 1, 0, 0, 0x6C, 0xD3, 0x15, 0x0E])
  }

  @Test("Any flipped bit of a record is damage, and no save overwrites it")
  func flippedBits() throws {
    let fixture = try Fixture(Song.self)
    let record = try savedSong(fixture)
    for bit in 0..<8 * record.count {
      var flipped = record
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      try fixture.overwrite(Song.self, 2, flipped)
      let store = try fixture.store()
      let error = expectStoreError(.damaged) { _ = try store.object(Song.self, rowID: 2) }
      #expect(error?.location.className == "Song" && error?.location.rowID == 2)
    }
  }

  @Test("A record moved to another row is damage there")
  func strayed() throws {
    let fixture = try Fixture(Song.self)
    try fixture.overwrite(Song.self, 3, try savedSong(fixture))
    let store = try fixture.store()
    expectStoreError(.damaged) { _ = try store.object(Song.self, rowID: 3) }
    expectStoreError(.damaged) { _ = try store.allObjects(of: Song.self) }
  }

  @Test("A class keeps its checksums whatever the configuration of a later store")
  func kept() throws {
    let fixture = try Fixture(Song.self)
    let count = try savedSong(fixture).count
    try fixture.reopen()
    let store = try fixture.store(.init(checksumsRecords: false))
    let song = try #require(try store.object(Song.self, rowID: 2))
    song.seconds += 1
    try store.saveChanges()
    #expect(try fixture.record(Song.self, 2)?.count == count)
    try fixture.reopen()
    #expect(try fixture.store().object(Song.self, rowID: 2)?.seconds == 178)
  }

  @Test("A flipped bit of a named buffer is damage, or does not change its content")
  func namedBuffer() throws {
    let fixture = try Fixture(Song.self)
    _ = try savedSong(fixture)
    let saved = try #require(
      try fixture.backend.withNamedBuffer("Favorite") { span in
        (0..<span.byteCount).map { Span<UInt8>(_bytes: span)[$0] }
      })
    for bit in 0..<8 * saved.count {
      var flipped = saved
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      try fixture.backend.commit(
        ChangeSet(bytes: flipped, names: [.init(name: "Favorite", range: 0..<flipped.count)]))
      let store = try fixture.store()
      do {
        var buffer = try store.buffer(named: "Favorite")
        #expect(try buffer?.readUInt32() == 3)
      } catch let error as StoreError {
        #expect(error.code == .damaged)
      }
    }
  }

  @Test("A buffer of the original, without a checksum, is accepted")
  func originalBuffer() throws {
    let fixture = try Fixture(Song.self)
    try fixture.backend.commit(
      ChangeSet(bytes: [3, 0, 0, 0], names: [.init(name: "Favorite", range: 0..<4)]))
    #expect(try fixture.store().buffer(named: "Favorite")?.bytes == [3, 0, 0, 0])
  }
}
