import Files
import Foundation
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestServer
import Testing

/// The conformance suite has what a storage promises; this is what machines do to each other.
@Suite("Values outside of records on PostgreSQL", .needsServer)
struct ExternalTests {
  private let first = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
  private let second = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })

  private func open(_ backend: any StoreBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Recording.self)
    return store
  }

  private func insert(_ title: String, _ audio: Data, into store: Store) -> Recording {
    let recording = Recording()
    (recording.title, recording.audio) = (title, ExternalData(audio))
    store.insert(recording)
    return recording
  }

  private func valueCount(_ backend: any StoreBackend) throws -> Int {
    try #require(backend.externalStorage).list().count
  }

  @Test(
    "A value of one machine is read by another, and removed with the last object that refers to it",
    arguments: TestDatabase.keys)
  func lifetime(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let (mine, theirs) = (try open(database.backend()), try open(database.backend()))
    let recording = insert("A", first, into: mine)
    try mine.saveChanges()
    let same = try #require(try theirs.object(Recording.self, rowID: recording.rowID))
    #expect(try same.audio.data() == first)
    #expect(try valueCount(mine.backend) == 1)
    // Both refer to one value.
    let copy = Recording()
    copy.audio = same.audio
    theirs.insert(copy)
    try theirs.saveChanges()
    #expect(try valueCount(mine.backend) == 1)
    recording.audio = ExternalData(second)
    try mine.saveChanges()
    #expect(try valueCount(mine.backend) == 2)
    #expect(try copy.audio.data() == first)
    theirs.mergeChanges()
    #expect(try same.audio.data() == second)
    // Nobody holds the value any more.
    copy.audio = ExternalData()
    theirs.delete(copy)
    try theirs.saveChanges()
    #expect(try open(database.backend()).check().findings == [])
    mine.mergeChanges()
    mine.delete(recording)
    try mine.saveChanges()
    #expect(try mine.check().isSound)
  }

  @Test(
    "A copy to another backend and back has all values, and so does a snapshot",
    arguments: TestDatabase.keys)
  func copies(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let store = try open(database.backend())
    _ = insert("A", first, into: store)
    _ = insert("B", second, into: store)
    try store.saveChanges()
    let memory = try MemoryBackend()
    try BackendCopy(from: store.backend, to: memory).run()
    let target = try TestDatabase().backend()
    try BackendCopy(from: memory, to: target).run()
    let snapshot = try store.backend.snapshot()
    for backend in [memory, target, snapshot] as [any StoreBackend] {
      let copy = try open(backend)
      let audio = try copy.allObjects(of: Recording.self).map { try $0.audio.data() }
      #expect(Set(audio) == [first, second])
      #expect(try copy.check().isSound)
    }
  }

  @Test("A commit restores a value that others have removed, and is refused if it no longer exists")
  func races() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try open(database.backend()), try open(database.backend()))
    let recording = insert("A", first, into: mine)
    try mine.saveChanges()
    let same = try #require(try theirs.object(Recording.self, rowID: recording.rowID))
    #expect(try same.audio.data() == first)
    let storage = try #require(mine.backend.externalStorage)
    let id = try #require(try storage.list().first?.id)
    // Rows refer to it: it stays.
    try storage.remove(id)
    #expect(try valueCount(mine.backend) == 1)

    // Without its object it is only marked, and a commit of a reference restores it.
    let catalogue = try mine.backend.orderedTable(ExternalCatalogue.table)
    var entries: [([UInt8], [UInt8])] = []
    _ = try mine.backend.scanKeys(of: catalogue, KeyRange(), isReversed: false) { key, value in
      entries.append(([UInt8](copying: key), [UInt8](copying: value)))
      return .next
    }
    var (dropping, adding) = (ChangeSet(), ChangeSet())
    for (key, value) in entries {
      dropping.set(key, to: nil, in: catalogue)
      adding.set(key, to: value, in: catalogue)
    }
    try mine.backend.commit(dropping)
    try storage.remove(id)
    #expect(try valueCount(mine.backend) == 0)
    try mine.backend.commit(adding)
    #expect(try valueCount(mine.backend) == 1)
    #expect(try same.audio.data() == first)

    try mine.backend.commit(dropping)
    try storage.remove(id)
    try database.server.sql(
      "delete from stored_objects.external_values where id = '\(id)'")
    #expect(storeError { try mine.backend.commit(adding) }?.code == .recordMissing)
    #expect(try mine.backend.keyCount(in: catalogue, KeyRange()) == 0)
  }

  @Test("Opening a store removes values that were removed long ago, or begun and never saved")
  func oldValues() throws {
    let database = try TestDatabase()
    let store = try open(database.backend())
    _ = insert("A", first, into: store)
    try store.saveChanges()
    let storage = try #require(store.backend.externalStorage)
    var ids: [ExternalID] = []
    for _ in 0..<4 {
      let output = try storage.create(.random())
      try output.append([1])
      try output.finish()
    }
    for (id, _) in try storage.list() where try !ExternalCatalogueUse(store.backend).contains(id) {
      ids.append(id)
    }
    #expect(ids.count == 4)
    try storage.remove(ids[0])
    try storage.remove(ids[1])
    try database.server.sql(
      """
      update stored_objects.external_values set removed = now() - interval '2 hours'
        where id = '\(ids[0])';
      update stored_objects.external_values set created = now() - interval '2 days'
        where id = '\(ids[2])'
      """)
    // Its last row is gone, and the machine that held it, too.
    let catalogue = try store.backend.orderedTable(ExternalCatalogue.table)
    var changes = ChangeSet()
    changes.clear(catalogue)
    try store.backend.commit(changes)
    // Only in this store: other tests have theirs in the same tables.
    try database.server.sql(
      """
      update stored_objects.external_values v set dropped = now() - interval '2 days'
        from stored_objects.stores s
        where s.id = v.store and s.name = '\(database.store)' and v.listed > 0
      """)
    let again = try database.backend()
    let left = try database.server.sql(
      """
      select count(*) from stored_objects.external_values v
        join stored_objects.stores s on s.id = v.store where s.name = '\(database.store)'
      """)
    // The dropped one and another that were removed just now, and one that is new.
    #expect(left == "3")
    #expect(try valueCount(again) == 1)
  }

  @Test("A value takes one round trip per chunk, and two more")
  func roundTrips() throws {
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy)
    let storage = try #require(backend.externalStorage)
    proxy.roundTrips = 0
    let output = try storage.create(.random())
    for _ in 0..<10 { try output.append(Array(repeating: 1, count: ExternalChunks.size)) }
    try output.finish()
    #expect(proxy.roundTrips == 12)
  }
}

/// The values that rows refer to.
private struct ExternalCatalogueUse {
  private var keys: [[UInt8]] = []

  init(_ backend: any StoreBackend) throws {
    var keys: [[UInt8]] = []
    let table = try backend.orderedTable(ExternalCatalogue.table)
    _ = try backend.scanKeys(of: table, KeyRange(), isReversed: false) { key, _ in
      keys.append([UInt8](copying: key))
      return .next
    }
    self.keys = keys
  }

  func contains(_ id: ExternalID) -> Bool {
    keys.contains { $0.dropFirst().starts(with: id.bytes) }
  }
}
