import Foundation
import Locks
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import Synchronization
import TestServer
import Testing

/// The conformance suite has what a history is; this is what several machines do to it.
@Suite("Histories on PostgreSQL", .needsServer)
struct HistoryTests {
  @Test(
    "Whatever two machines save, entries lead from one state to the next",
    arguments: TestDatabase.keys)
  func twoMachines(_ key: EncryptionKey?) throws {
    let name = "histories of two machines, \(key == nil ? "plain" : "sealed")"
    var random = Seeds.generator(for: name)
    let database = try TestDatabase(key: key)
    let backends = [try database.backend(), try database.backend()]
    var changes = try backends.map {
      try RandomChanges($0, SeededGenerator(seed: random.next()))
    }
    for _ in 0..<5 { try backends[0].commit(changes[0].next()) }
    let image = try HistoryWalk.content(backends[0])
    try backends[1].beginHistory()
    for _ in 0..<120 {
      let number = Int.random(in: 0...1, using: &random)
      try backends[number].commit(
        changes[number].next(), CommitRequest(author: "machine \(number)"))
    }
    for backend in backends { try HistoryWalk.check(backend, from: image) }
    let authors = try HistoryWalk(backends[0], from: image).commits.map(\.author)
    #expect(Set(authors) == ["machine 0", "machine 1"])
    try HistoryWalk.check(try database.backend(), from: image)
  }

  @Test(
    "Entries have what other transactions have left, whatever the isolation level of the database",
    arguments: [("read committed", 60), ("repeatable read", 20), ("serializable", 20)])
  func isolation(_ level: String, _ count: Int) throws {
    var random = Seeds.generator(for: "histories, \(level)")
    let seeds = (0..<3).map { _ in random.next() }
    let database = try TestDatabase()
    let name = try database.newDatabase()
    try database.server.sql("alter database \(name) set default_transaction_isolation = '\(level)'")
    let first = try database.backend(database: name)
    try first.beginHistory()
    try BackendConformance.runOnThreads(3) { number in
      let backend = try database.backend(database: name)
      var changes = try RandomChanges(backend, SeededGenerator(seed: seeds[number]))
      for _ in 0..<count { try backend.commit(changes.next()) }
    }
    try HistoryWalk.check(first)
  }

  @Test("Machines that opened the store before the history write entries, of large saves, too")
  func openedBefore() throws {
    let database = try TestDatabase()
    let (early, other) = (try database.backend(), try database.backend())
    let table = try early.table(named: "Song")
    try early.commit(change(.insert, 2, [1], table))
    let image = try HistoryWalk.content(early)
    try other.beginHistory()
    try early.commit(change(.update, 2, [2], table))
    // Without a history it would be sent in several pieces.
    var large = ChangeSetBuilder()
    for row in UInt32(10)..<30 {
      large.insert(row, in: table, Array(repeating: UInt8(row), count: 400_000))
    }
    try early.commit(large.changeSet)
    try early.commit(large.changeSet.updates())
    try HistoryWalk.check(other, from: image)
    #expect(try HistoryWalk(other, from: image).commits.count == 2)
    // A reader that knew of no history reads the entries.
    #expect(try HistoryWalk.numbers(early) == [3, 4, 5])
    try other.endHistory()
    try early.commit(change(.update, 2, [3], table))
    #expect(try early.historyStart() == nil)
    #expect(try HistoryWalk.numbers(early) == [])
  }

  @Test(
    "A history begins after its own commit, whenever others save meanwhile",
    arguments: TestDatabase.keys)
  func begunBetweenSaves(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let (backend, other) = (try database.backend(through: proxy), try database.backend())
    let table = try other.table(named: "Song")
    proxy.beforeRequests { _ = try? other.commit(change(.update, 2, [1], table)) }
    try backend.beginHistory()
    proxy.beforeRequests {}
    // Others have saved before the history was looked for, and after that.
    let start = try #require(try backend.historyStart())
    #expect(start > 2)
    try other.commit(change(.update, 2, [2], table))
    #expect(try HistoryWalk.numbers(backend) == Array(start + 1..<backend.lastCommitNumber + 1))
  }

  @Test("A save whose answer is lost has one entry", arguments: TestDatabase.keys)
  func lostAnswers(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy)
    let table = try backend.table(named: "Song")
    try backend.beginHistory()
    for number in UInt8(1)...10 {
      proxy.cut(number % 2 == 0 ? .beforeAnswer : .afterRequest)
      try backend.commit(change(.update, 2, [number], table))
      #expect(proxy.hasCut)
    }
    try HistoryWalk.check(backend)
    #expect(try HistoryWalk(backend).commits.count == 10)
  }

  @Test("A save with an entry is one round trip, and without a history nothing takes more")
  func roundTrips() throws {
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy)
    let table = try backend.table(named: "Song")
    func trips(_ body: () throws -> Void) throws -> Int {
      proxy.roundTrips = 0
      try body()
      return proxy.roundTrips
    }
    #expect(try trips { try backend.commit(change(.insert, 2, [1], table)) } == 1)
    // Queries ask before they build an index.
    var mayCommit = false
    #expect(try trips { mayCommit = try backend.canCommit() } == 0 && mayCommit)
    try backend.beginHistory()
    #expect(try trips { try backend.commit(change(.update, 2, [2], table)) } == 1)
    let request = CommitRequest(basis: CommitBasis(upTo: backend.lastCommitNumber))
    #expect(try trips { try backend.commit(change(.update, 2, [3], table), request) } == 1)
    mayCommit = false
    #expect(try trips { mayCommit = try backend.canCommit() } == 0 && mayCommit)
    var large = ChangeSetBuilder()
    for row in UInt32(10)..<30 {
      large.insert(row, in: table, Array(repeating: UInt8(row), count: 400_000))
    }
    #expect(try trips { try backend.commit(large.changeSet) } == 1)
  }

  @Test(
    "A history is begun, shortened and read while three machines save", arguments: TestDatabase.keys
  )
  func underLoad(_ key: EncryptionKey?) throws {
    var random = Seeds.generator(for: "histories under load, \(key == nil ? "plain" : "sealed")")
    let seeds = (0..<3).map { _ in random.next() }
    let database = try TestDatabase(key: key)
    let first = try database.backend()
    let isDone = Atomic(false)
    try BackendConformance.runOnThreads(4) { number in
      let backend = try database.backend()
      if number == 3 {
        defer { isDone.store(true, ordering: .relaxed) }
        try backend.beginHistory()
        for _ in 0..<12 {
          let start = try #require(try backend.historyStart())
          // Nobody may have saved yet.
          let numbers = try HistoryWalk.numbers(backend)
          let last = numbers.last ?? start
          #expect(numbers == Array(start + 1..<last + 1))
          try backend.purgeHistory(through: start + (last - start) / 2)
          #expect(try backend.historyStart() == start + (last - start) / 2)
          try backend.noteHistorySeen(by: "test", through: last)
        }
        return
      }
      var changes = try RandomChanges(backend, SeededGenerator(seed: seeds[number]))
      while !isDone.load(ordering: .relaxed) {
        try backend.commit(changes.next())
        // Without pauses, the history grows faster than a busy machine shortens it.
        usleep(3000)
      }
    }
    // Every commit behind the start has an entry.
    let start = try #require(try first.historyStart())
    #expect(try HistoryWalk.numbers(first) == Array(start + 1..<first.lastCommitNumber + 1))
    let content = try HistoryWalk.content(first)
    try first.revert(toCommit: start)
    let earlier = try HistoryWalk.content(first)
    try first.revert(toCommit: first.lastCommitNumber - 1)
    let now = try HistoryWalk.content(first)
    #expect(now.withoutIndexes.differences(from: content.withoutIndexes) == [])
    try HistoryWalk.checkEntries(first, from: earlier)
  }

  @Test("A snapshot as of a commit is made while others save, and has the values of then")
  func earlierStates() throws {
    var random = Seeds.generator(for: "earlier states on PostgreSQL")
    let database = try TestDatabase()
    let (backend, other) = (try database.backend(), try database.backend())
    var changes = try RandomChanges(backend, SeededGenerator(seed: random.next()))
    try backend.beginHistory()
    var images: [UInt64: StoreImage] = [:]
    for _ in 0..<20 {
      try backend.commit(changes.next())
      images[backend.lastCommitNumber] = try HistoryWalk.content(backend).withoutIndexes
    }
    let isDone = Atomic(false)
    let seed = random.next()
    let (known, start) = (images, try #require(try backend.historyStart()))
    try BackendConformance.runOnThreads(2) { number in
      if number == 1 {
        var changes = try RandomChanges(other, SeededGenerator(seed: seed))
        while !isDone.load(ordering: .relaxed) { try other.commit(changes.next()) }
        return
      }
      defer { isDone.store(true, ordering: .relaxed) }
      for (number, image) in known {
        let snapshot = try backend.snapshot(asOf: number)
        #expect(snapshot.lastCommitNumber == number)
        #expect(try HistoryWalk.content(snapshot).withoutIndexes.differences(from: image) == [])
        #expect(try HistoryWalk.numbers(snapshot).last ?? start == number)
      }
    }
  }

  /// One sealed key in 256 begins like the key of an entry.
  @Test("Sealed keys that begin like those of entries are not among the entries")
  func sealedKeys() throws {
    let database = try TestDatabase(key: EncryptionKey(bytes: Array(repeating: 7, count: 32)))
    let backend = try database.backend()
    try backend.beginHistory()
    let image = try HistoryWalk.content(backend)
    let history = try backend.orderedTable(OrderedTableName("CommitHistory", kind: .data))
    var marks = ChangeSetBuilder()
    // Without one that begins so once in 10^11 runs.
    for number in 0..<6500 { marks.set([2] + Array("\(number)".utf8), to: [1], in: history) }
    try backend.commit(marks.changeSet)
    try backend.commit(change(.insert, 2, [1], backend.table(named: "Song")))
    try HistoryWalk.check(backend, from: image)
    var batch = RecordBatch()
    let summary = try backend.summary(
      of: backend.table(named: "Song"), [], valuesOf: [], copying: [],
      keysIn: [(history, KeyRange(from: [1], to: [2]))], to: &batch)
    #expect(summary.keys.map(\.count) == [2])
  }

  @Test("An entry that is too large is an error, and the save changes nothing")
  func tooLarge() throws {
    let backend = try TestDatabase().backend()
    let table = try backend.table(named: "Song")
    try backend.beginHistory()
    var changes = ChangeSetBuilder()
    for row in UInt32(2)..<5 {
      changes.insert(row, in: table, Array(repeating: 1, count: 100 << 20))
    }
    #expect(storeError { try backend.commit(changes.changeSet) }?.code == .tooLarge)
    #expect(try backend.recordCount(in: table) == 0)
    #expect(try HistoryWalk.numbers(backend) == [])
  }
}

extension HistoryWalk {
  /// Expects that the entries behind the start lead to the store, from the state at the start.
  static func checkEntries(_ backend: any StoreBackend, from image: StoreImage) throws {
    let walk = try HistoryWalk(backend, from: image)
    #expect(walk.image.withoutIndexes.differences(from: try content(backend).withoutIndexes) == [])
  }
}

extension StoreImage {
  /// The image without indexes, which are built again when they are needed.
  var withoutIndexes: StoreImage {
    var image = self
    for key in image.keys["Titles.index"]?.keys.map({ $0 }) ?? [] {
      image.set(key, to: nil, in: OrderedTableName("Titles", kind: .index))
    }
    return image
  }
}

extension ChangeSet {
  /// The same changes as updates of rows.
  fileprivate func updates() -> ChangeSet {
    var changes = self
    for index in changes.tables.indices {
      changes.tables[index].records = changes.tables[index].records.map {
        .init(kind: .update, rowID: $0.rowID, range: $0.range)
      }
    }
    return changes
  }
}
