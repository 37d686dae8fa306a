import Files
import Foundation
import Locks
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import TestServer
import Testing

private final class Playlist: StoredObject {
  @Content var songs: ObjectList<Song> = []

  override func writeContent(to buffer: inout DataBuffer) throws { buffer.write(songs) }
  override func readContent(from buffer: inout DataBuffer) throws {
    songs = try buffer.readList(of: Song.self)
  }
}

@Suite("Snapshots of a server", .needsServer, .hangLimit)
struct SnapshotTests {
  /// Saves a list of songs whose titles are their positions.
  private func save(_ count: Int, _ database: TestDatabase) throws {
    let store = Store(backend: try database.backend())
    try store.register(Song.self, Playlist.self)
    let list = Playlist()
    list.songs = ObjectList((0..<count).map { _ in Song() })
    for (number, song) in list.songs.enumerated() {
      song.title = "\(number)"
      store.insert(song)
    }
    store.insert(list)
    try store.saveChanges()
    try store.backend.close()
  }

  private func container(_ backend: PostgreSQLBackend) throws -> StoreContainer {
    try StoreContainer(backend: backend, classes: [Song.self, Playlist.self])
  }

  /// The number of sessions that are in a transaction, or that a backend has.
  private func sessions(
    _ server: TestServer, of application: String, inTransaction: Bool = false
  ) throws -> Int {
    let condition = inTransaction ? "and state like 'idle in transaction%'" : ""
    let text = try server.sql(
      """
      select count(*) from pg_stat_activity where application_name = '\(application)' \(condition)
      """)
    return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
  }

  @Test(
    "A read of a container takes a round trip more than what it reads, and does not wait for its end",
    arguments: TestDatabase.keys)
  func roundTrips(key: EncryptionKey?) async throws {
    let database = try TestDatabase(key: key)
    try save(1000, database)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let container = try container(try database.backend(through: proxy))
    for count in 1...3 {
      try await container.write { $0.insert(Playlist()) }
      proxy.roundTrips = 0
      let found = try await container.read { try $0.count(of: Playlist.self) }
      #expect(found == 1 + count)
      // The beginning, the count, and the end.
      #expect(proxy.roundTrips <= 3, "\(proxy.roundTrips)")
    }
    proxy.roundTrips = 0
    let titles = try await container.read { store in
      try #require(try store.allObjects(of: Playlist.self).first).songs.map(\.title)
    }
    #expect(titles == (0..<1000).map { "\($0)" })
    // With the end of the read before, which may come late.
    #expect(proxy.roundTrips <= 9, "\(proxy.roundTrips)")
    try await container.close()
  }

  @Test("No transaction stays open after the reads of a container")
  func endsTransactions() async throws {
    let database = try TestDatabase()
    try save(10, database)
    let name = "reads-\(UUID().uuidString.prefix(8))"
    let container = try container(try database.backend(named: name))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let count = try await container.read { try $0.count(of: Song.self) }
          #expect(count == 10)
        }
      }
      try await group.waitForAll()
    }
    // The end is sent without waiting for the answer.
    for _ in 0..<200 where try sessions(database.server, of: name, inTransaction: true) > 0 {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(try sessions(database.server, of: name, inTransaction: true) == 0)
    #expect(try sessions(database.server, of: name) > 0)
    let snapshot = try container.snapshot()
    #expect(try sessions(database.server, of: name, inTransaction: true) == 1)
    #expect(try snapshot.makeStore().count(of: Song.self) == 10)
    try await container.close()
  }

  @Test("Snapshots take no connections from others, and their connections are closed")
  func connections() throws {
    let database = try TestDatabase()
    try save(3, database)
    let name = "held-\(UUID().uuidString.prefix(8))"
    let backend = try database.backend(named: name, maximumConnectionCount: 1)
    let table = try backend.table(named: "Song")
    var held: [any StoreBackend] = []
    for _ in 0..<5 { held.append(try backend.snapshot()) }
    for snapshot in held { held.append(try snapshot.snapshot()) }
    #expect(try sessions(database.server, of: name, inTransaction: true) == 5)
    try backend.commit(change(.update, 2, [7], table))
    for snapshot in held { #expect(try snapshot.record(2, in: table) != [7]) }
    #expect(try backend.record(2, in: table) == [7])
    held = []
    for _ in 0..<200 where try sessions(database.server, of: name) > 1 {
      Thread.sleep(forTimeInterval: 0.02)
    }
    #expect(try sessions(database.server, of: name) == 1)
    #expect(try backend.record(2, in: table) == [7])
    backend.close()
  }

  @Test("A snapshot whose session the server has ended says so, and later reads go on")
  func lostSession() async throws {
    let database = try TestDatabase()
    try save(3, database)
    let name = "lost-\(UUID().uuidString.prefix(8))"
    let backend = try database.backend(named: name)
    let table = try backend.table(named: "Song")
    let snapshot = try backend.snapshot()
    try database.endSessions(of: name)
    let first = storeError { _ = try snapshot.record(2, in: table) }
    #expect(first?.code == .ioError)
    let second = storeError { _ = try snapshot.record(2, in: table) }
    #expect(second?.code == .ioError)
    #expect(second?.description.contains("take another") == true)
    #expect(storeError { _ = try snapshot.snapshot().recordCount(in: table) }?.code == .ioError)
    #expect(try backend.snapshot().record(2, in: table) != nil)
    let container = try container(backend)
    try database.endSessions(of: name)
    let count = try await container.read { try $0.count(of: Song.self) }
    #expect(count == 3)
    try await container.close()
  }

  @Test(
    "A copy of a server's store is that of one commit while others save",
    arguments: TestDatabase.keys)
  func copy(key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let (source, other) = (try database.backend(), try database.backend())
    @Sendable func save(_ step: UInt8, _ kind: ChangeSet.Kind, to backend: PostgreSQLBackend) throws
    {
      var changes = ChangeSet(bytes: [step], tables: [], names: [.init(name: "Step", range: 0..<1)])
      for name in ["Song", "Disc"] {
        let rows = (2..<300).map { ChangeSet.RecordChange(kind: kind, rowID: $0, range: 0..<1) }
        changes.tables.append(.init(table: try backend.table(named: name), records: rows))
      }
      let names = try backend.orderedTable(OrderedTableName("Names", kind: .data))
      changes.set([1], to: [step], in: names)
      try backend.commit(changes)
    }
    try save(0, .insert, to: source)
    let lastStep: UInt8 = 60
    // On a thread of its own, which waits for no other test.
    let writing = JoinedResult {
      Result {
        for step in 1...lastStep { try save(step, .update, to: other) }
      }
    }
    var steps: Set<UInt8> = []
    while !steps.contains(lastStep) {
      let copy = try MemoryBackend()
      try BackendCopy(from: source, to: copy).run()
      let buffer = try copy.withNamedBuffer("Step") { [UInt8](copying: $0) }
      let step = try #require(buffer?.first)
      for name in ["Song", "Disc"] {
        let records = try copy.records(of: name)
        #expect(records.count == 298 && records.values.allSatisfy { $0 == [step] })
      }
      let table = try copy.orderedTable(OrderedTableName("Names", kind: .data))
      let value = try copy.withValue(of: [1], in: table) { [UInt8](copying: $0) }
      #expect(value == [step])
      #expect(copy.lastCommitNumber == UInt64(step) + 1)
      steps.insert(step)
    }
    try writing?.take()?.get()
    #expect(steps.count > 2, "nobody saved during the copies")
  }

  @Test("A copy of a snapshot has the values outside of records that others have removed")
  func externalStorage() throws {
    let database = try TestDatabase()
    let bytes = [UInt8](repeating: 3, count: 200_000)
    let store = Store(backend: try database.backend())
    try store.register(Recording.self)
    let recording = Recording()
    recording.audio = ExternalData(bytes)
    store.insert(recording)
    try store.saveChanges()
    let snapshot = try store.backend.snapshot()
    let other = Store(backend: try database.backend())
    try other.register(Recording.self)
    other.delete(try #require(try other.allObjects(of: Recording.self).first))
    try other.saveChanges()
    let ownStore = "(select id from stored_objects.stores where name = '\(database.store)')"
    for table in ["external_chunks", "external_values"] {
      try database.server.sql("delete from stored_objects.\(table) where store = \(ownStore)")
    }
    let copy = try MemoryBackend()
    try BackendCopy(from: snapshot, to: copy).run()
    let restored = Store(backend: copy)
    try restored.register(Recording.self)
    let audio = try #require(try restored.allObjects(of: Recording.self).first).audio
    #expect(try audio.data() == Data(bytes))
  }
}

extension StoreBackend {
  /// The records of a class.
  fileprivate func records(of name: String) throws -> [UInt32: [UInt8]] {
    var records: [UInt32: [UInt8]] = [:]
    _ = try scan(table(named: name), from: nil) { row, record in
      records[row] = [UInt8](copying: record)
      return .next
    }
    return records
  }
}
