import Foundation
import KeyValueStoreCore
import Locks
import PostgreSQLBackend
import StoreEngine
import StoredObjectsTestSupport
import TestServer
import Testing

/// Key-value stores on backends that have nothing in common but the server, as on several machines.
@Suite("Key-value stores on one PostgreSQL store", .needsServer)
struct KeyValueTests {
  private let database: TestDatabase

  init() throws { database = try TestDatabase() }

  private func openStore(
    through proxy: TestProxy? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) throws -> KeyValueStore {
    var configuration = PostgreSQLConfiguration()
    configuration.pollInterval = .milliseconds(5)
    return try KeyValueStore(backend: database.backend(through: proxy, configuration), now: now)
  }

  @Test("Four machines lose no increment")
  func increments() throws {
    try BackendConformance.runOnThreads(4) { _ in
      let store = try openStore()
      let table = try store.createTable("counts")
      for _ in 0..<500 {
        try store.write { batch in
          let count = try batch.get("count", from: table, as: Int.self) ?? 0
          try batch.put(count + 1, for: "count", in: table)
        }
      }
    }
    #expect(try openStore().table("counts").get("count", as: Int.self) == 2000)
  }

  @Test("A closure only sees values of one state, even if it ignores errors")
  func consistentReads() throws {
    let writer = try openStore()
    let pairs = try writer.createTable("pairs")
    try pairs.put(["left": 0, "right": 0])
    let isDone = SharedLock(false)
    try BackendConformance.runOnThreads(3) { number in
      if number == 0 {
        defer { isDone.withLock { $0 = true } }
        for count in 1...300 { try pairs.put(["left": count, "right": count]) }
        return
      }
      let reader = try openStore()
      let table = try reader.table("pairs")
      while !isDone.withLock(\.self) {
        let (left, right) = try reader.write { batch in
          let left = try batch.get("left", from: table, as: Int.self)
          let right =
            number == 1
            ? try table.get("right", as: Int.self)
            : (try? batch.get("right", from: table, as: Int.self)) ?? nil
          return (left, right)
        }
        #expect(left == right)
      }
    }
  }

  @Test("Values that a write has read are not changed by others before its commit")
  func restingOnKeys() throws {
    let (mine, theirs) = (try openStore(), try openStore())
    let table = try mine.createTable("rooms")
    let same = try theirs.table("rooms")
    try table.put(["a1": 1, "b1": 1])
    for isRange in [false, true] {
      var attempts = 0
      try mine.write { batch in
        attempts += 1
        let count = isRange ? try table.prefix("a").count() : nil
        let value = isRange ? nil : try batch.get("a1", from: table, as: Int.self)
        // A key that does not matter, and one that does, once.
        try same.put(attempts, for: "b1")
        if attempts == 1 { try same.put(7, for: isRange ? "a2" : "a1") }
        try batch.put(count ?? value ?? 0, for: "result", in: table)
      }
      #expect(attempts == 2)
      #expect(try same.get("result", as: Int.self) == (isRange ? 2 : 7))
    }
  }

  @Test("A write to a table that another machine drops fails, and leaves nothing")
  func droppedTable() throws {
    let (mine, theirs) = (try openStore(), try openStore())
    let table = try mine.createTable("notes")
    try table.put(1, for: "a", expiresAfter: .seconds(60))
    _ = try theirs.table("notes")
    let error = storeError {
      try mine.write { batch in
        try batch.put(2, for: "b", in: table)
        try theirs.dropTable("notes")
      }
    }
    #expect(error?.code == .noSuchTable)
    #expect(try mine.backend.orderedTableNames() == [])
    let again = try theirs.createTable("notes")
    #expect(try again.count() == 0)
    // It has the number of the old one.
    #expect(storeError { _ = try table.get("b", as: Int.self) }?.code == .noSuchTable)
    #expect(try mine.table("notes").count() == 0)
  }

  @Test("Tables that machines create concurrently are different")
  func tables() throws {
    try BackendConformance.runOnThreads(4) { number in
      let store = try openStore()
      for count in 0..<10 {
        try store.createTable("\(number) \(count)").put(number, for: "\(count)")
        try store.createTable("common").put(number, for: "\(number)")
      }
    }
    let store = try openStore()
    #expect(store.tableNames().count == 41)
    for number in 0..<4 {
      for count in 0..<10 {
        let items = try store.table("\(number) \(count)").all.items()
        #expect(items.map(\.key) == ["\(count)"] && items.map(\.value) == [.int(Int64(number))])
      }
    }
    #expect(try store.table("common").count() == 4)
  }

  @Test("Two stores together equal a dictionary", arguments: [0, 1])
  func randomWork(_ number: UInt64) throws {
    var random = Seeds.generator(for: "key-value stores on PostgreSQL, \(number)")
    let clock = SharedLock(Date(timeIntervalSinceReferenceDate: 8e8))
    let stores = [
      try openStore { clock.withLock(\.self) }, try openStore { clock.withLock(\.self) },
    ]
    var model: [String: [String: (value: Int, expiresAt: Date)]] = [:]
    for step in 0..<250 {
      let (store, name) = (stores[.random(in: 0...1, using: &random)], "\(step % 3)")
      let (now, key) = (clock.withLock(\.self), "\(Int.random(in: 0..<9, using: &random))")
      let living = { (item: (value: Int, expiresAt: Date)) in item.expiresAt > now }
      switch Int.random(in: 0..<24, using: &random) {
      case 0:
        try store.dropTable(name)
        model[name] = nil
      case 1: clock.withLock { $0 += 5 }
      case 2: try store.purgeExpired()
      case 3 where store.hasTable(name):
        try store.table(name).removeAll()
        model[name] = [:]
      case 4...9 where store.hasTable(name):
        let wasThere = model[name]?[key].map(living) ?? false
        #expect(try store.table(name).delete(key) == wasThere, "step \(step)")
        model[name]?[key] = nil
      default:
        let life = Int.random(in: 1...40, using: &random)
        let table = try store.createTable(name)
        let count = try store.write { batch in
          let count = (try batch.get(key, from: table, as: Int.self) ?? 0) + 1
          try batch.put(
            count, for: key, in: table, expiresAfter: life < 20 ? .seconds(life) : nil)
          return count
        }
        let before = model[name]?[key].flatMap { living($0) ? $0.value : nil } ?? 0
        #expect(count == before + 1, "step \(step)")
        let end = life < 20 ? now + TimeInterval(life) : .distantFuture
        model[name, default: [:]][key] = (before + 1, end)
      }
      if step % 10 != 0 { continue }
      let moment = clock.withLock(\.self)
      for store in stores {
        #expect(Set(store.tableNames()) == Set(model.keys), "step \(step)")
        for (name, items) in model {
          let wanted = items.filter { $0.value.expiresAt > moment }.mapValues(\.value)
          let table = try store.table(name)
          let found = try table.all.items().map { ($0.key, try $0.decoded(as: Int.self)) }
          #expect(Dictionary(uniqueKeysWithValues: found) == wanted, "step \(step)")
          #expect(try table.count() == wanted.count, "step \(step)")
        }
      }
    }
  }

  @Test("Observers get writes of other machines, also to tables created and dropped meanwhile")
  func observing() async throws {
    let (mine, theirs) = (try openStore(), try openStore())
    try await theirs.createTable("known").put(1, for: "x")
    var changes = mine.changes().makeAsyncIterator()
    let notes = try await theirs.createTable("notes")
    try await notes.put(1, for: "a")
    try await notes.delete("a")
    try await theirs.dropTable("notes")
    try await theirs.table("known").put(2, for: "x")
    var found: [String] = []
    while found.count < 5, let change = await changes.next() {
      found.append("\(change.kind) \(change.table) \(change.key ?? "-")")
    }
    #expect(
      found == [
        "created notes -", "put notes a", "deleted notes a", "dropped notes -", "put known x",
      ])
  }

  @Test("A get takes one round trip, a put two, and a batch one per key that it reads")
  func roundTrips() throws {
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let store = try openStore(through: proxy)
    let table = try store.createTable("notes")
    try table.put(1, for: "a")
    func count(_ body: () throws -> Void) throws -> Int {
      proxy.roundTrips = 0
      try body()
      return proxy.roundTrips
    }
    #expect(try count { _ = try table.get("a", as: Int.self) } == 1)
    #expect(try count { try table.put(2, for: "a") } == 2)
    #expect(
      try count {
        try store.write { batch in
          let count = try batch.get("a", from: table, as: Int.self) ?? 0
          try batch.put(count + 1, for: "b", in: table)
        }
      } == 3)
  }

  @Test("A store opened for reading sees tables and items that others write")
  func reading() throws {
    let writer = try openStore()
    try writer.createTable("a").put(1, for: "x")
    var configuration = PostgreSQLConfiguration()
    configuration.access = .readOnly
    let reader = try KeyValueStore(backend: try database.backend(configuration))
    #expect(try reader.table("a").get("x", as: Int.self) == 1)
    try writer.createTable("b").put(2, for: "y")
    #expect(try reader.table("b").get("y", as: Int.self) == 2)
    try writer.dropTable("b")
    #expect(!reader.hasTable("b"))
  }

  @Test("A store that is far behind finds out which tables were dropped")
  func lostTrack() throws {
    let (mine, theirs) = (try openStore(), try openStore())
    let table = try mine.createTable("a")
    try theirs.dropTable("a")
    try theirs.createTable("b").put(1, for: "x")
    let other = try theirs.backend.table(named: "Other")
    for _ in 0..<1100 { try theirs.backend.commit(change(.update, 2, [1], other)) }
    #expect(storeError { _ = try table.get("x", as: Int.self) }?.code == .noSuchTable)
    #expect(mine.tableNames() == ["b"])
  }

  @Test("A table with the number of a dropped one has its own items and changes")
  func numbers() async throws {
    let (mine, theirs) = (try openStore(), try openStore())
    try await mine.createTable("old")
    var changes = mine.changes().makeAsyncIterator()
    try await theirs.dropTable("old")
    let other = try await theirs.createTable("theirs")
    try await other.put(1, for: "a")
    var found: [String] = []
    while found.count < 3, let change = await changes.next() {
      found.append("\(change.kind) \(change.table)")
    }
    #expect(found == ["dropped old", "created theirs", "put theirs"])
    try await mine.createTable("mine").put(2, for: "b")
    #expect(try other.all.keys() == ["a"])
  }

  @Test("A stream ends with its table while its thread waits for changes")
  func streamEnds() throws {
    var configuration = PostgreSQLConfiguration()
    configuration.pollInterval = .milliseconds(100)
    let store = try KeyValueStore(backend: database.backend(configuration))
    let (table, other) = (try store.createTable("a"), try store.createTable("b"))
    // Delivers slowly, so that the asking thread gets its answer meanwhile.
    let slowly = CommitListener(ofOtherProcesses: true, isPassive: true) { _ in
      Thread.sleep(forTimeInterval: 0.3)
    }
    store.backend.coordinator.attach(slowly)
    let changes = table.changes()
    Thread.sleep(forTimeInterval: 0.02)
    try openStore().dropTable("a")
    let isRead = DispatchSemaphore(value: 0)
    let reader = Thread {
      _ = try? other.get("x", as: Int.self)
      isRead.signal()
    }
    reader.start()
    #expect(isRead.wait(timeout: .now() + 10) == .success)
    withExtendedLifetime(changes) {}
  }
}
