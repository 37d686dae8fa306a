import Locks
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestServer
import Testing

/// A class with two indexes, whose keys change with its objects.
private final class Track: StoredObject {
  @Content var title = ""
  @Content var plays = 0

  override class var indexes: [AttributeIndex] {
    [AttributeIndex("title", \Track.title), AttributeIndex("plays", \Track.plays)]
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(plays)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    plays = try buffer.read()
  }
}

@Suite("Saves of objects with indexes on PostgreSQL", .needsServer)
struct IndexedSaveTests {
  private static let keys = [nil, EncryptionKey(bytes: Array(repeating: 7, count: 32))]

  private static func open(_ backend: PostgreSQLBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Track.self)
    return store
  }

  private static func insert(_ count: Int, into store: Store) throws -> [Track] {
    let tracks = (0..<count).map { _ in Track() }
    for (number, track) in tracks.enumerated() {
      track.title = "\(number)"
      store.insert(track)
    }
    try store.saveChanges()
    return tracks
  }

  @Test(
    "A save of objects with indexes is two round trips, and one more for each 1,024 objects",
    arguments: keys)
  func roundTrips(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let store = try Self.open(database.backend(through: proxy))
    let tracks = try Self.insert(1500, into: store)
    for (count, expected) in [(1, 2), (200, 2), (1024, 2), (1025, 3), (1500, 3)] {
      for track in tracks.prefix(count) { track.plays += 1 }
      proxy.roundTrips = 0
      try store.saveChanges()
      #expect(proxy.roundTrips == expected, "\(count) objects")
    }
    #expect(try store.check().isSound)
    #expect(try store.fetch(Track.self, where: \.plays, is: 5).count == 1)
    #expect(try store.fetch(Track.self, where: \.plays, is: 1).count == 475)
  }

  @Test("No index is built because another machine saves between any two requests", arguments: keys)
  func savesOfOthers(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let mine = try Self.open(database.backend(through: proxy))
    let tracks = try Self.insert(50, into: mine)
    tracks[0].plays = 1
    try mine.saveChanges()
    let theirs = try database.backend()
    let number = theirs.lastCommitNumber
    let others = Locked(0)
    proxy.beforeRequests {
      // With a limit, so that a save that begins again and again ends at last.
      if others.withLock(\.self) == 200 { return }
      others.withLock { $0 += 1 }
      #expect(throws: Never.self) { _ = try Self.insert(1, into: Self.open(theirs)) }
    }
    proxy.roundTrips = 0
    for plays in 2...11 {
      tracks[plays].plays = plays
      try mine.saveChanges()
    }
    #expect(proxy.roundTrips == 20)
    // Nothing but these saves was committed.
    #expect(theirs.lastCommitNumber == number + 10 + UInt64(others.withLock(\.self)))
    proxy.beforeRequests {}
    #expect(try mine.check().isSound)
  }
}
