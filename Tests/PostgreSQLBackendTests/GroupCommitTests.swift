import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestServer
import Testing

@testable import PostgreSQLBackend

@Suite("Commits that PostgreSQL gets together", .needsServer)
struct GroupCommitTests {
  /// A commit that a thread makes, and its outcome.
  private struct Made: Sendable {
    var token = UUID()
    var author = ""
    var outcome: Result<Commit?, StoreError>?

    var number: UInt64? { try? outcome?.get()?.number }
    var code: StoreError.Code? {
      if case .failure(let error) = outcome { error.code } else { nil }
    }
  }

  /// Makes commits on a thread each, which all wait for the lock of the store, in order.
  private func commitTogether(
    _ changes: [(ChangeSet, CommitBasis?)], to backend: PostgreSQLBackend,
    _ database: TestDatabase
  ) throws -> [Made] {
    let all = SharedLock([Made](repeating: Made(), count: changes.count))
    let lock = try HeldLock(database)
    let group = DispatchGroup()
    for (index, (changes, basis)) in changes.enumerated() {
      group.enter()
      let made = Made(author: "author \(index)")
      Thread.detachNewThread {
        let request = CommitRequest(
          token: made.token, author: made.author, time: Date(timeIntervalSince1970: Double(index)),
          basis: basis)
        let outcome = Result { () throws(StoreError) in try backend.commit(changes, request) }
        all.withLock {
          $0[index] = made
          $0[index].outcome = outcome
        }
        group.leave()
      }
      // The first one is on its way, and does not wait in the queue.
      while backend.underWay.withLock({ $0.count }) <= index || backend.queue.waitingCount < index {
        usleep(1000)
      }
    }
    try lock.release()
    group.wait()
    return all.withLock(\.self)
  }

  /// The number of transactions that have made the commits after a number.
  private func transactionCount(
    after number: UInt64, of database: TestDatabase
  ) throws -> Int? {
    try Int(
      database.server.sql(
        """
        select count(distinct c.xmin::text)
        from stored_objects.commits c join stored_objects.stores s on s.id = c.store
        where s.name = '\(database.store)' and c.number > \(number)
        """))
  }

  @Test(
    "Commits that wait at the same time are one transaction, and each has all that is its own",
    arguments: TestDatabase.keys)
  func together(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy)
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    proxy.roundTrips = 0
    let all = try commitTogether(
      (0..<12).map { (change(.insert, 10 + $0, [UInt8($0)], table), CommitBasis(upTo: 1)) },
      to: backend, database)
    #expect(proxy.roundTrips == 2)
    #expect(all.map(\.number) == (2...13).map { $0 })
    #expect(try transactionCount(after: 1, of: database) == 2)
    // All on the short way, see SmallCommitTests.
    #expect(
      try database.server.sql(
        """
        select count(*) from stored_objects.commits c
          join stored_objects.stores s on s.id = c.store
        where s.name = '\(database.store)' and c.names is null
        """) == "12")
    let other = try database.backend()
    let theirTable = try other.table(named: "Song")
    for (index, made) in all.enumerated() {
      let commit = try #require(try other.commit(withToken: made.token))
      #expect(commit.number == made.number && commit.author == made.author)
      #expect(commit.time == Date(timeIntervalSince1970: Double(index)))
      #expect(try other.record(UInt32(10 + index), in: theirTable) == [UInt8(index)])
    }
    #expect(backend.lastCommitNumber == 13)
  }

  @Test(
    "A commit that the server refuses fails alone, for its own reason", arguments: TestDatabase.keys
  )
  func refusals(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    try backend.commit(change(.update, 2, [2], table))
    let words = try backend.orderedTable(OrderedTableName("Words", kind: .index))
    var (word, sameWord, otherWord) = (ChangeSet(), ChangeSet(), ChangeSet())
    word.set([7, 1], to: [], in: words)
    sameWord.set([7, 2], to: [], in: words)
    otherWord.set([8, 1], to: [], in: words)
    var (seven, eight) = (CommitBasis(upTo: 2), CommitBasis(upTo: 2))
    seven.keys = [(words, .prefix([7]))]
    eight.keys = [(words, .prefix([8]))]
    let basis = CommitBasis(upTo: 2)
    let all = try commitTogether(
      [
        (change(.insert, 3, [3], table), basis),
        // Of others, before.
        (change(.update, 2, [3], table), CommitBasis(upTo: 1)),
        (change(.insert, 4, [4], table), basis),
        // Of the same group.
        (change(.update, 4, [5], table), basis),
        (change(.insert, 2, [5], table), nil),
        (word, seven), (sameWord, seven), (otherWord, eight),
        (change(.insert, 5, [5], table), CommitBasis(upTo: 99)),
        (change(.insert, 6, [6], table), basis),
      ], to: backend, database)
    let codes: [StoreError.Code?] = [
      nil, .conflict, nil, .conflict, .rowExists, nil, .conflict, nil, .conflict, nil,
    ]
    #expect(all.map(\.code) == codes)
    #expect(all.compactMap(\.number).sorted() == Array(3...7))
    // Which keys of an encrypted store are in a range is known after the commit of the others.
    if key == nil { #expect(try transactionCount(after: 2, of: database) == 2) }
    #expect(try backend.record(4, in: table) == [4] && backend.record(6, in: table) == [6])
    #expect(try backend.keyCount(in: words, KeyRange()) == 2)
    for made in all {
      #expect((try backend.commit(withToken: made.token) == nil) == (made.code != nil))
    }
  }

  /// Has records of which the first byte is 255 fail with an error of the server.
  private func failing(_ state: String) throws -> PostgreSQLBackend {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let backend = try database.backend(database: name)
    try database.server.sql(
      """
      create function fail() returns trigger language plpgsql as
      'begin if get_byte(new.data, 0) = 255 then raise sqlstate ''\(state)''; end if;
       return new; end';
      create trigger fail before insert on stored_objects.records
        for each row execute function fail();
      """, database: name)
    return backend
  }

  @Test(
    "A commit that the server can't execute fails alone, and the others are made",
    arguments: [("54000", .tooLarge), ("57014", .ioError), ("53100", .noSpace)]
      as [(String, StoreError.Code)])
  func failures(_ state: String, _ code: StoreError.Code) throws {
    let backend = try failing(state)
    let table = try backend.table(named: "Song")
    let codes = SharedLock([StoreError.Code?](repeating: nil, count: 40))
    try BackendConformance.runOnThreads(8) { thread in
      for number in 0..<5 {
        let row = 5 * thread + number
        let byte: UInt8 = row % 3 == 0 ? 255 : 1
        let changes = change(.insert, UInt32(row + 2), [byte], table)
        let error = storeError { try backend.commit(changes) }
        codes.withLock { $0[row] = error?.code }
      }
    }
    for (row, found) in codes.withLock(\.self).enumerated() {
      #expect(found == (row % 3 == 0 ? code : nil))
      #expect(try backend.record(UInt32(row + 2), in: table) == (row % 3 == 0 ? nil : [1]))
    }
    #expect(backend.lastCommitNumber == 26)
  }

  @Test("Commits that wait when the backend is closed throw, and are not made")
  func closing() throws {
    let database = try TestDatabase()
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    let lock = try HeldLock(database)
    let codes = SharedLock<[StoreError.Code?]>([])
    let group = DispatchGroup()
    for row in UInt32(2)..<6 {
      group.enter()
      Thread.detachNewThread {
        let error = storeError { try backend.commit(change(.insert, row, [1], table)) }
        codes.withLock { $0.append(error?.code) }
        group.leave()
      }
    }
    while backend.queue.waitingCount < 3 { usleep(1000) }
    backend.close()
    try lock.release()
    group.wait()
    #expect(codes.withLock { $0.count { $0 == .closed } } == 3)
    #expect(try database.backend().lastCommitNumber == 1)
  }

  // MARK: A model

  /// The changes that the threads of the model have made.
  private struct Model {
    var rows: [UInt32: UInt64] = [:]
    var counters: [UInt32: Int] = [:]
  }

  @Test(
    "Whatever is cut, threads of two machines lose no commit and make none twice",
    arguments: [false, true], TestDatabase.keys)
  func model(_ keepsHistory: Bool, _ key: EncryptionKey?) throws {
    var random = Seeds.generator(for: "group commits")
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backends = [try database.backend(through: proxy), try database.backend(through: proxy)]
    let table = try backends[0].table(named: "Event")
    if keepsHistory { try backends[0].beginHistory() }
    for row in UInt32(2)...4 { try backends[0].commit(change(.insert, row, [0, 0], table)) }
    let first = backends[0].lastCommitNumber
    let delivered = backends.map { deliveredRows(by: $0) }
    let cuts = SharedLock(SeededGenerator(seed: random.next()))
    proxy.beforeRequests {
      switch cuts.withLock({ Int.random(in: 0..<20, using: &$0) }) {
      case 0: proxy.cut(.afterRequest)
      case 1: proxy.cut(.beforeAnswer)
      default: break
      }
    }
    let model = SharedLock(Model())
    let seed = random.next() as UInt64
    try BackendConformance.runOnThreads(8) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(thread))
      let backend = backends[thread % 2]
      let table = try backend.table(named: "Event")
      for number in 0..<12 {
        let row = UInt32(100 * (thread + 1) + number)
        try addOne(row, .random(in: 2...4, using: &random), backend, table, model)
      }
    }
    proxy.beforeRequests {}
    proxy.cut(.nothing)
    try check(model.withLock(\.self), first, backends, delivered)
    if keepsHistory {
      #expect(try database.backend().historyPosition().number == first + 96)
      let entries = try backends[0].orderedTable(OrderedTableName("CommitHistory", kind: .data))
      // The history begins with the first of the three earlier commits.
      #expect(try backends[0].keyCount(in: entries, .prefix([1])) == 99)
    }
  }

  /// The rows of the model's commits that listeners of a backend are notified of.
  private func deliveredRows(by backend: PostgreSQLBackend) -> SharedLock<[UInt32]> {
    let rows = SharedLock<[UInt32]>([])
    backend.coordinator.attach(
      CommitListener { changes in
        let new = changes.tables.flatMap(\.records).filter { $0.kind == .insert }.map(\.rowID)
          .filter { $0 >= 100 }
        rows.withLock { $0 += new }
      })
    return rows
  }

  /// Adds a row, and one to a counter, until there is no conflict and no lost connection.
  private func addOne(
    _ row: UInt32, _ counter: UInt32, _ backend: PostgreSQLBackend, _ table: TableID,
    _ model: SharedLock<Model>
  ) throws {
    while true {
      do {
        let basis = CommitBasis(upTo: backend.lastCommitNumber)
        let count = (try backend.record(counter, in: table) ?? [0, 0])[1] + 1
        let changes = ChangeSet(
          bytes: [0, count],
          tables: [
            .init(
              table: table,
              records: [
                .init(kind: .update, rowID: counter, range: 0..<2),
                .init(kind: .insert, rowID: row, range: 0..<2),
              ])
          ])
        let commit = try backend.commit(changes, CommitRequest(author: "\(row)", basis: basis))
        return model.withLock {
          $0.rows[row] = commit?.number
          $0.counters[counter, default: 0] += 1
        }
      } catch {
        // After an error without a doubt, nothing has changed.
        guard error.code == .conflict || error.code == .ioError else { throw error }
      }
    }
  }

  private func check(
    _ model: Model, _ first: UInt64, _ backends: [PostgreSQLBackend],
    _ delivered: [SharedLock<[UInt32]>]
  ) throws {
    let inOrder = model.rows.sorted { $0.value < $1.value }
    #expect(inOrder.map(\.value) == Array(first + 1...first + 96))
    for (backend, delivered) in zip(backends, delivered) {
      #expect(backend.lastCommitNumber == first + 96)
      let table = try backend.table(named: "Event")
      #expect(try backend.recordCount(in: table) == 99)
      for (counter, count) in model.counters {
        #expect(try backend.record(counter, in: table) == [0, UInt8(count)])
      }
      #expect(delivered.withLock(\.self) == inOrder.map(\.key), "each once, in order")
    }
  }
}
