import Foundation
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestServer
import Testing

@Suite("Values outside of records on PostgreSQL, in a store with a history", .needsServer)
struct ExternalHistoryTests {
  private static func value(_ number: UInt8) -> Data {
    Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) &* number })
  }

  private func open(_ backend: any StoreBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Recording.self)
    return store
  }

  private func found(_ backend: any StoreBackend) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for recording in try open(backend).allObjects(of: Recording.self) {
      found[recording.title] = try recording.audio.data()
    }
    return found
  }

  private func recording(_ title: String, _ store: Store) throws -> Recording {
    try #require(try store.allObjects(of: Recording.self).first { $0.title == title })
  }

  @Test(
    "A value that machines replace and delete stays until its entries are removed",
    arguments: TestDatabase.keys)
  func kept(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let (mine, theirs) = (try database.backend(), try database.backend())
    let storage = try #require(mine.externalStorage)
    let old = ["a": Self.value(1), "b": Self.value(2)]
    let start: UInt64
    do {
      let store = try open(mine)
      for (title, value) in old.sorted(by: { $0.key < $1.key }) {
        let recording = Recording()
        (recording.title, recording.audio) = (title, ExternalData(value))
        store.insert(recording)
      }
      try store.saveChanges()
      try theirs.beginHistory()
      start = theirs.lastCommitNumber
      try recording("a", store).audio = ExternalData(Self.value(3))
      try store.saveChanges()
      let other = try open(theirs)
      try other.delete(recording("b", other))
      try other.saveChanges()
    }
    let (new, end) = (["a": Self.value(3)], theirs.lastCommitNumber)
    #expect(try found(mine) == new && found(theirs) == new)
    #expect(try storage.list().count == 3)
    #expect(try found(theirs.snapshot(asOf: start)) == old)
    #expect(try found(mine.snapshot(asOf: start)) == old)
    try mine.revert(toCommit: start)
    #expect(try found(theirs) == old)
    #expect(try open(theirs).check().findings == [])
    try theirs.revert(toCommit: end)
    #expect(try found(mine) == new)
    #expect(try storage.list().count == 3)

    // A copy has all of them, and keeps them for its own entries.
    let copy = try TestDatabase(key: key).backend()
    try BackendCopy(from: mine, to: copy).run()
    #expect(try found(copy.snapshot(asOf: start)) == old)
    #expect(try open(copy).check().findings == [])
    try copy.endHistory()
    #expect(try #require(copy.externalStorage).list().count == 1)

    let memory = try MemoryBackend()
    var follower = try StoreFollower(memory)
    try follower.catchUp(with: theirs)
    #expect(try found(memory) == new)
    let server = try TestDatabase(key: key).backend()
    follower = try StoreFollower(server)
    try follower.catchUp(with: theirs)
    #expect(try found(server.snapshot(asOf: start)) == old)

    try theirs.purgeHistory(through: start + 1)
    #expect(try storage.list().count == 3)
    try mine.endHistory()
    #expect(try storage.list().count == 1)
    #expect(try open(theirs).check().findings == [])
    #expect(try found(theirs) == new)
  }

  @Test("A lost answer to a save keeps the value that it drops", arguments: TestDatabase.keys)
  func lostAnswer(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy)
    let store = try open(backend)
    let recording = Recording()
    recording.audio = ExternalData(Self.value(1))
    store.insert(recording)
    try store.saveChanges()
    try backend.beginHistory()
    let start = backend.lastCommitNumber
    recording.title = "new"
    recording.audio = ExternalData()
    proxy.cut(.beforeAnswer)
    try store.saveChanges()
    #expect(proxy.hasCut)
    #expect(try #require(backend.externalStorage).list().count == 1)
    #expect(try found(backend.snapshot(asOf: start)) == ["": Self.value(1)])
    try backend.endHistory()
    #expect(try #require(backend.externalStorage).list().isEmpty)
  }
}
