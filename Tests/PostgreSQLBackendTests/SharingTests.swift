import Foundation
import Locks
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import Synchronization
import TestServer
import Testing

/// Backends that have nothing in common but the server, as on two machines.
@Suite("Backends on one PostgreSQL store", .needsServer)
struct SharingTests {
  private func store(
    _ database: TestDatabase, _ policy: ConflictPolicy = .error
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.conflictPolicy = policy
    let store = Store(backend: try database.backend(), configuration: configuration)
    try store.register(Song.self)
    return store
  }

  @Test("A store merges the saves of another one")
  func merges() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try store(database), try store(database))
    let song = Song()
    song.title = "Blue"
    mine.insert(song)
    try mine.saveChanges()
    let other = try #require(try theirs.object(Song.self, rowID: song.rowID))
    #expect(other.title == "Blue")
    other.title = "Green"
    try theirs.saveChanges()
    mine.mergeChanges()
    #expect(song.title == "Green")
  }

  @Test("Two stores that change the same object conflict, and a retry succeeds")
  func conflicts() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try store(database), try store(database))
    let song = Song()
    mine.insert(song)
    try mine.saveChanges()
    let other = try #require(try theirs.object(Song.self, rowID: song.rowID))
    other.plays = 1
    song.plays = 2
    try theirs.saveChanges()
    let error = storeError { try mine.saveChanges() }
    #expect(error?.code == .conflict)
    mine.keepConflictingChanges()
    try mine.saveChanges()
    theirs.mergeChanges()
    #expect(other.plays == 2)
  }

  @Test("Conflicts are resolved by the policy")
  func policies() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try store(database, .mine), try store(database, .theirs))
    let song = Song()
    mine.insert(song)
    try mine.saveChanges()
    let other = try #require(try theirs.object(Song.self, rowID: song.rowID))
    other.title = "Blue"
    song.title = "Green"
    try theirs.saveChanges()
    try mine.saveChanges()
    other.title = "Red"
    try theirs.saveChanges()
    #expect(song.title == "Green" && other.title == "Green")
  }

  @Test("Objects that two stores insert concurrently have different rows, and a deletion is seen")
  func insertsAndDeletions() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try store(database), try store(database))
    let first = Song()
    mine.insert(first)
    for round in 0..<20 {
      for store in [mine, theirs] where round > 0 || store === theirs {
        let song = Song()
        song.plays = round
        store.insert(song)
      }
      try mine.saveChanges()
      try theirs.saveChanges()
    }
    mine.mergeChanges()
    #expect(try mine.count(of: Song.self) == 40)
    let row = first.rowID
    mine.delete(first)
    try mine.saveChanges()
    theirs.mergeChanges()
    #expect(try theirs.object(Song.self, rowID: row) == nil)
    #expect(try theirs.count(of: Song.self) == 39)
  }

  @Test("Objects that others have inserted are among all objects, without merging")
  func allObjects() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try store(database), try store(database))
    for count in 1...100 {
      mine.insert(Song())
      try mine.saveChanges()
      if count % 20 == 0 { #expect(try theirs.allObjects(of: Song.self).count == count) }
    }
  }

  @Test("Machines that register different classes concurrently give them different IDs")
  func classIDs() throws {
    final class Album: StoredObject {}
    final class Artist: StoredObject {}
    final class Label: StoredObject {}
    let database = try TestDatabase()
    let types = [Song.self, Album.self, Artist.self, Label.self] as [StoredObject.Type]
    try BackendConformance.runOnThreads(4) { first in
      let store = Store(backend: try database.backend())
      for number in 0..<4 { try store.register(types[(first + number) % 4]) }
    }
    let store = Store(backend: try database.backend())
    try store.register(types)
  }

  @Test(
    "Two machines can't save the same value of a unique attribute, encrypted or not",
    arguments: TestDatabase.keys)
  func uniqueValues(_ key: EncryptionKey?) throws {
    final class Name: StoredObject {
      @Content var text = ""
      override class var indexes: [AttributeIndex] {
        [AttributeIndex("text", \Name.text, isUnique: true)]
      }
      override func writeContent(to buffer: inout DataBuffer) throws { buffer.write(text) }
      override func readContent(from buffer: inout DataBuffer) throws {
        text = try buffer.readString()
      }
    }
    let database = try TestDatabase(key: key)
    let saved = Atomic(0)
    let refused = Atomic(0)
    try BackendConformance.runOnThreads(3) { _ in
      let store = Store(backend: try database.backend())
      try store.register(Name.self)
      for number in 0..<40 {
        let name = Name()
        name.text = "\(number)"
        store.insert(name)
        do {
          try store.saveChanges()
          saved.add(1, ordering: .relaxed)
        } catch let error as StoreError where error.code == .notUnique {
          refused.add(1, ordering: .relaxed)
          store.discardChanges()
        }
      }
    }
    #expect(saved.load(ordering: .relaxed) == 40 && refused.load(ordering: .relaxed) == 80)
    let store = Store(backend: try database.backend())
    try store.register(Name.self)
    #expect(try Set(store.allObjects(of: Name.self).map(\.text)).count == 40)
    #expect(try store.check().isSound)
  }

  @Test("Of two independent metadata rows, the one with more rows is kept")
  func metadataRows() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try database.backend(), try database.backend())
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Song"))
    func row(_ last: UInt32) -> [UInt8] {
      var buffer = DataBuffer()
      ClassMetadata(lastRowID: last, classVersion: 1, classID: 0, salt: .init(1, 2))
        .write(to: &buffer)
      return buffer.bytes
    }
    try mine.commit(change(.insert, 1, row(2), table))
    let basis = CommitRequest(basis: CommitBasis(upTo: 1))
    try theirs.commit(change(.update, 1, row(90), theirTable), basis)
    try mine.commit(change(.update, 1, row(40), table), basis)
    #expect(try mine.record(1, in: table) == row(90))
    #expect(try mine.reserveRows(1, in: table) == 91...91)
    let now = CommitRequest(basis: CommitBasis(upTo: mine.lastCommitNumber))
    try mine.commit(change(.update, 1, row(7), table), now)
    #expect(try theirs.record(1, in: theirTable) == row(7))
  }

  @Test("A commit prepared without others is refused if others have committed meanwhile")
  func overtaken() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try database.backend(), try database.backend())
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Other"))
    let error = storeError {
      try mine.coordinator.whileCommitting { () throws(StoreError) in
        try mine.commit(change(.insert, 2, [1], table))
        try mine.commit(change(.insert, 3, [1], table))
        try theirs.commit(change(.insert, 2, [1], theirTable))
        try mine.commit(change(.insert, 4, [1], table))
      }
    }
    #expect(error?.code == .conflict)
    #expect(try mine.recordCount(in: table) == 2)
    #expect(mine.lastCommitNumber == 3)
  }

  @Test("A commit that comes too late is refused, with all changes of the others")
  func refusals() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try database.backend(), try database.backend())
    let table = try mine.table(named: "Song")
    // The numbers of tables differ.
    _ = try theirs.table(named: "Other")
    let theirTable = try theirs.table(named: "Song")
    try mine.commit(change(.insert, 2, [1], table))
    let basis = CommitBasis(upTo: mine.lastCommitNumber)
    try theirs.commit(change(.update, 2, [2], theirTable))
    let error = storeError {
      try mine.commit(change(.update, 2, [3], table), CommitRequest(basis: basis))
    }
    let conflict = error?.underlying as? CommitConflict
    #expect(conflict?.rows == [.init(table: "Song", rowID: 2)])
    #expect(try mine.record(2, in: table) == [2])
    let changes = try mine.changes(since: 1)
    #expect(changes.number == 2 && changes.tables.map(\.written) == [[2]])
  }

  @Test(
    "Four machines lose no increment, whatever the isolation level of the database",
    arguments: [("read committed", 500), ("repeatable read", 50), ("serializable", 50)])
  func increments(isolation: String, count: Int) throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    try database.server.sql(
      "alter database \(name) set default_transaction_isolation = '\(isolation)'")
    let first = try database.backend(database: name)
    let table = try first.table(named: "Counter")
    try first.commit(change(.insert, 2, [0, 0], table))
    try BackendConformance.runOnThreads(4) { _ in
      let backend = try database.backend(database: name)
      let table = try backend.table(named: "Counter")
      for _ in 0..<count { while try !addOne(backend, table) {} }
    }
    #expect(try first.record(2, in: table) == [UInt8((4 * count) >> 8), UInt8((4 * count) & 255)])
    #expect(first.lastCommitNumber == UInt64(4 * count + 1))
  }

  @Test("A listener gets every commit of other machines, in order")
  func listening() async throws {
    let database = try TestDatabase()
    var configuration = PostgreSQLConfiguration()
    configuration.pollInterval = .milliseconds(5)
    let container = try StoreContainer(
      backend: try database.backend(configuration), classes: [Song.self])
    let changes = try container.committedChanges()
    let theirs = try database.backend()
    let table = try theirs.table(named: "Song")
    for row in UInt32(100)..<110 { try theirs.commit(change(.insert, row, [1], table)) }
    var rows: [UInt32] = []
    for await change in changes {
      rows += change[Song.self].inserted
      if rows.count == 10 { break }
    }
    #expect(rows == Array(100..<110))
  }

  @Test("A listener that is far behind is notified of any changes, and loses nothing")
  func lostTrack() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try store(database), try database.backend())
    let song = Song()
    mine.insert(song)
    try mine.saveChanges()
    let backend = try #require(mine.backend as? PostgreSQLBackend)
    let number = backend.lastCommitNumber
    let table = try theirs.table(named: "Other")
    for _ in 0..<1100 { try theirs.commit(change(.update, 2, [1], table)) }
    let other = try store(database)
    let copy = try #require(try other.object(Song.self, rowID: song.rowID))
    copy.plays = 7
    try other.saveChanges()
    mine.mergeChanges()
    #expect(song.plays == 7)
    #expect(backend.lastCommitNumber == number + 1101)
    #expect(storeError { _ = try backend.changes(since: number) }?.code == .historyExpired)
  }

  @Test("Freshness lets the last number be answered from memory for its duration")
  func freshness() throws {
    let database = try TestDatabase()
    var configuration = PostgreSQLConfiguration()
    configuration.freshness = .seconds(3600)
    let (mine, theirs) = (try database.backend(configuration), try database.backend())
    let table = try mine.table(named: "Song")
    try mine.commit(change(.insert, 2, [1], table))
    try theirs.commit(change(.update, 2, [2], try theirs.table(named: "Song")))
    #expect(mine.lastCommitNumber == 1)
    #expect(try mine.record(2, in: table) == [2])
    #expect(mine.lastCommitNumber == 2)
  }

  @Test("Changes that weigh too much are forgotten, from the oldest on, and the others stay")
  func forgetting() throws {
    let database = try TestDatabase()
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    for row in UInt32(2)...10 { try backend.commit(change(.insert, row, [1], table)) }
    let own = "(select id from stored_objects.stores where name = '\(database.store)')"
    func weigh(_ weight: Int, _ number: Int) throws {
      try database.server.sql(
        """
        update stored_objects.commits set weight = \(weight) where store = \(own) and number = \(number);
        update stored_objects.stores set weight = weight + \(weight) where id = \(own)
        """)
    }
    func remembers(since number: UInt64) throws -> Bool {
      // A process remembers what it has seen.
      let other = try database.backend()
      defer { other.close() }
      let error = storeError { _ = try other.changes(since: number) }
      #expect(error == nil || error?.code == .historyExpired)
      return error == nil
    }
    // Commits of rows are weighed together, every 64th time, and those with a buffer at once.
    func commitTwo(_ rows: UInt32...) throws {
      var changes = ChangeSetBuilder()
      for row in rows { changes.insert(row, in: table, [1]) }
      changes.set("Order", [])
      try backend.commit(changes.changeSet)
    }
    try weigh(1_900_000, 4)
    try commitTwo(20, 30)
    #expect(try remembers(since: 0))
    try weigh(100_000, 6)
    try commitTwo(21, 31)
    #expect(try !remembers(since: 3))
    #expect(try remembers(since: 4))
    let weight = try database.server.sql(
      "select weight from stored_objects.stores where id = \(own)")
    // Two for each commit after the fourth, but for the sixth, and one more for each second row.
    #expect(Int(weight.trimmingCharacters(in: .whitespacesAndNewlines)) == 100_000 + 6 * 2 + 2)
    // A commit that is heavier than the limit forgets all others, and is the next to be forgotten.
    try weigh(3_000_000, 11)
    try commitTwo(22, 32)
    #expect(try !remembers(since: 10))
    #expect(try remembers(since: 11))
  }
}

/// Raises a counter of two bytes, unless somebody else has meanwhile.
private func addOne(_ backend: PostgreSQLBackend, _ table: TableID) throws -> Bool {
  let basis = CommitBasis(upTo: backend.lastCommitNumber)
  let record = try #require(try backend.record(2, in: table))
  let next = UInt16(record[0]) << 8 + UInt16(record[1]) + 1
  let changes = change(.update, 2, [UInt8(next >> 8), UInt8(next & 255)], table)
  do {
    try backend.commit(changes, CommitRequest(basis: basis))
    return true
  } catch {
    guard error.code == .conflict else { throw error }
    return false
  }
}
