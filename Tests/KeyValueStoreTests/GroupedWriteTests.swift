import CDBBackend
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import Synchronization
import TestFiles
import TestedBackends
import Testing

@testable import KeyValueStoreCore

@Suite("Writes of several threads")
struct GroupedWriteTests {
  private let disk: CrashingDirectory
  private let gate: Gate
  private let store: KeyValueStore
  private let table: KeyValueTable

  init() throws { (disk, gate, store, table) = try gatedStore() }

  /// Runs closures on threads of their own, which may wait, and returns them.
  private func start(_ bodies: [@Sendable () -> Void]) throws -> [JoinedThread] {
    try bodies.map { try #require(JoinedThread($0)) }
  }

  private func waitUntil(_ isTrue: () -> Bool) {
    let deadline = ContinuousClock.now + .seconds(60)
    while !isTrue() {
      guard ContinuousClock.now < deadline else {
        Issue.record("What was waited for has not come.")
        return
      }
      usleep(1000)
    }
  }

  @Test("Reads do not wait for a sync, and see only durable writes")
  func readers() throws {
    try table.put(1, for: "x")
    gate.close()
    let isDone = SharedLock(false)
    let threads = try start([
      { [table] in
        try? table.put(2, for: "x")
        isDone.withLock { $0 = true }
      }
    ])
    gate.waitForArrival()
    // The sync is blocked. All of this would block, too, if it waited for the sync.
    #expect(try table.get("x", as: Int.self) == 1)
    #expect(try table.contains("x"))
    #expect(try table.count() == 1)
    #expect(try table.all.values(as: Int.self) == [1])
    #expect(store.tableNames() == ["a"])
    #expect(!isDone.withLock { $0 })
    gate.open()
    withExtendedLifetime(threads) { waitUntil { isDone.withLock { $0 } } }
    #expect(try table.get("x", as: Int.self) == 2)
  }

  @Test("Writes during a sync share the next one, and are seen and reported in their order")
  func grouping() async throws {
    gate.close()
    let done = SharedLock<[String]>([])
    let changes = table.changes()
    let number = store.backend.lastCommitNumber
    func put(_ index: Int) -> @Sendable () -> Void {
      { [table] in
        do { try table.put(index, for: "\(index)") } catch { return }
        done.withLock { $0.append("\(index)") }
      }
    }
    var threads = try start([put(0)])
    gate.waitForArrival()
    for index in 1...20 {
      threads += try start([put(index)])
      waitUntil { store.queuedCount == index }
    }
    #expect(done.withLock { $0 }.isEmpty)
    disk.plan(.none)
    gate.open()
    withExtendedLifetime(threads) { waitUntil { done.withLock { $0.count } == 21 } }
    #expect(try table.all.values(as: Int.self).sorted() == Array(0...20))
    // One for what was under way, and one for the twenty.
    #expect(disk.syncCount == 2)
    #expect(store.backend.lastCommitNumber == number + 21)
    try store.close()
    var keys: [String] = []
    for await change in changes { keys.append(change.key ?? "") }
    #expect(keys == (0...20).map(String.init))
  }

  @Test("Batches share a sync, too, and each sees the ones before")
  func batches() throws {
    gate.close()
    let sums = SharedLock<[Int]>([])
    let expiry = Duration.seconds(1000)
    func add() -> @Sendable () -> Void {
      { [store, table] in
        do {
          let sum = try store.write { batch in
            let sum = (try batch.get("sum", from: table, as: Int.self) ?? 0) + 1
            try batch.put(sum, for: "sum", in: table, expiresAfter: sum % 2 == 0 ? expiry : nil)
            #expect(try batch.contains("\(sum - 1)", in: table) == (sum > 1))
            try batch.put(sum, for: "\(sum)", in: table)
            if sum > 5 { #expect(try batch.delete("\(sum - 5)", from: table)) }
            return sum
          }
          sums.withLock { $0.append(sum) }
        } catch { Issue.record(error) }
      }
    }
    var threads = try start([add()])
    gate.waitForArrival()
    for index in 1...20 {
      threads += try start([add()])
      waitUntil { store.queuedCount == index }
    }
    disk.plan(.none)
    gate.open()
    withExtendedLifetime(threads) { waitUntil { sums.withLock { $0.count } == 21 } }
    #expect(disk.syncCount == 2)
    #expect(sums.withLock { $0.sorted() } == Array(1...21))
    #expect(try table.get("sum", as: Int.self) == 21)
    #expect(try table.count() == 6 && table.all.keys().count == 6)
    #expect(try table.item("sum")?.expiresAt == nil)
    // No time at which the item would have expired is left behind.
    let expiryTable = try store.backend.orderedTable(Catalogue.expiry(table.state.number))
    #expect(try store.backend.keyCount(in: expiryTable, KeyRange()) == 0)
  }

  @Test("Reads outside of the batch, and removing all items of a table, wait for pending writes")
  func readingPast() throws {
    gate.close()
    let seen = SharedLock<[Int]>([])
    var threads = try start([{ [table] in try? table.put(1, for: "x") }])
    gate.waitForArrival()
    threads += try start([
      { [store, table] in
        do {
          let count = try store.write { batch in
            try batch.put(2, for: "y", in: table)
            return try table.count()
          }
          seen.withLock { $0.append(count) }
          try store.write { batch in
            try batch.removeAll(from: table)
            try batch.put(3, for: "z", in: table)
          }
          let left = try table.count()
          seen.withLock { $0.append(left) }
        } catch { Issue.record(error) }
      }
    ])
    usleep(20_000)
    #expect(seen.withLock { $0.isEmpty })
    gate.open()
    withExtendedLifetime(threads) { waitUntil { seen.withLock { $0.count } == 2 } }
    #expect(seen.withLock { $0 } == [1, 1])
    #expect(try table.all.keys() == ["z"])
  }

  @Test("A failed write fails those that have read it; a put is tried again without it")
  func restingOnFailure() throws {
    gate.close()
    let codes = SharedLock<[String: String]>([:])
    func write(
      _ name: String, _ body: @escaping @Sendable () throws -> Void
    ) -> @Sendable () -> Void {
      {
        let code = code(body)
        codes.withLock { $0[name] = code }
      }
    }
    // So large that no other commit is written together with it.
    let text = String(repeating: "x", count: 5 << 20)
    let writes: [@Sendable () -> Void] = [
      write("large") { [table] in try table.put(text, for: "k") },
      write("reader") { [store, table] in
        try store.write { batch in
          let text = try batch.get("k", from: table, as: String.self)
          try batch.put(text?.utf8.count ?? 0, for: "length", in: table)
        }
      },
      write("only reader") { [store, table] in
        _ = try store.write { try $0.get("length", from: table, as: Int.self) }
      },
      write("other") { [table] in try table.put(1, for: "other") },
      write("again") { [table] in try table.put(2, for: "k") },
    ]
    var threads = try start([write("first") { [table] in try table.put(0, for: "first") }])
    gate.waitForArrival()
    for (index, body) in writes.enumerated() {
      threads += try start([body])
      // One that only reads has nothing to queue.
      let queued = index < 2 ? index + 1 : index
      waitUntil { store.queuedCount == queued }
      if index == 2 { usleep(20_000) }
    }
    // The first operation is the sync that is blocked.
    disk.plan(.fail(at: 1, errno: ENOSPC))
    gate.open()
    withExtendedLifetime(threads) { waitUntil { codes.withLock { $0.count } == 6 } }
    #expect(
      codes.withLock { $0 } == [
        "first": "none", "large": "noSpace", "reader": "noSpace", "only reader": "noSpace",
        "other": "none",
        "again": "none",
      ])
    #expect(try table.all.keys() == ["first", "k", "other"])
    #expect(try table.get("k", as: Int.self) == 2)
    #expect(try table.count() == 3)
  }

  /// Has threads and tasks count, each under its own key and all of them under one.
  ///
  /// - Returns: The number of acknowledged increments by key.
  private static func count(_ table: KeyValueTable) -> [String: Int] {
    let acknowledged = SharedLock<[String: Int]>([:])
    func count(_ key: String, _ isBatch: Bool) -> @Sendable () -> Void {
      {
        for round in 1...5 {
          do {
            if isBatch {
              try table.store.write { batch in
                for key in [key, "sum"] {
                  let sum = try batch.get(key, from: table, as: Int.self) ?? 0
                  try batch.put(sum + 1, for: key, in: table)
                }
              }
              acknowledged.withLock { $0[key, default: 0] += 1 }
            } else {
              try table.put(round, for: key)
              acknowledged.withLock { $0[key] = round }
            }
          } catch {}
        }
      }
    }
    var threads = (0..<6).map { JoinedThread(count(($0 < 4 ? "b" : "s") + "\($0)", $0 < 4)) }
    // They end here, and not behind the answer.
    threads.removeAll()
    return acknowledged.withLock { $0 }
  }

  private static func check(_ table: KeyValueTable, _ known: [String: Int], _ moment: String)
    throws
  {
    let items = try table.all.items()
    let found = try Dictionary(
      uniqueKeysWithValues: items.map { ($0.key, try $0.decoded(as: Int.self)) })
    #expect(try table.count() == found.count, "\(moment)")
    let sum = found.filter { $0.key.hasPrefix("b") }.reduce(0) { $0 + $1.value }
    #expect(found["sum"] ?? 0 == sum, "\(moment): a batch is torn")
    for (key, value) in known {
      // The answer to one more may have been lost, or several where they were tried again.
      #expect(found[key] ?? 0 >= value, "\(moment): \(key) is lost")
    }
  }

  private static func small() -> CheckpointLimits {
    var limits = CheckpointLimits(logBytes: 3000, filePart: 1000, bulkBytes: 1500)
    limits.segments = .small
    limits.logGrowth = 8 << 10
    limits.foldPause = .zero
    return limits
  }

  @Test("A power cut keeps acknowledged writes, and complete batches of the rest")
  func powerCuts() throws {
    var random = Seeds.generator(for: "GroupedWriteTests power")
    for operation in 0..<80 {
      let disk = try CrashingDirectory()
      disk.plan(.cutPower(at: operation))
      var known: [String: Int] = [:]
      if let store = try? KeyValueStore(backend: CDBBackend(disk, limits: Self.small())),
        let table = try? store.createTable("a")
      {
        known = Self.count(table)
        // The thread that wrote the last batches may release the store later, which closes it.
        try? store.close()
      }
      let rebooted = try disk.afterPowerCut(using: &random)
      let store = try KeyValueStore(backend: CDBBackend(rebooted, limits: Self.small()))
      try Self.check(store.createTable("a"), known, "cut at \(operation)")
    }
  }

  @Test("A disk that fails at any call keeps acknowledged writes, and complete batches")
  func failingDisk() throws {
    for operation in 0..<80 {
      let disk = try CrashingDirectory()
      let store = try KeyValueStore(backend: CDBBackend(disk, limits: Self.small()))
      let table = try store.createTable("a")
      disk.plan(.fail(at: operation, errno: operation % 2 == 0 ? ENOSPC : EIO))
      let known = Self.count(table)
      try? store.close()
      disk.plan(.none)
      let again = try KeyValueStore(backend: CDBBackend(disk, limits: Self.small()))
      try Self.check(again.createTable("a"), known, "failure at \(operation)")
    }
  }

  @Test("A failed write fails alone, and one of the same key is in another commit")
  func failures() async throws {
    let other = try await store.createTable("b")
    gate.close()
    let heard = table.changes()
    let codes = SharedLock<[String]>([])
    func write(_ body: @escaping @Sendable () throws -> Void) -> @Sendable () -> Void {
      {
        let code = code(body)
        codes.withLock { $0.append(code) }
      }
    }
    var threads = try start([write { [table] in try table.put(0, for: "first") }])
    gate.waitForArrival()
    threads += try start([
      write { [table] in try table.put(1, for: "k", expiresAfter: .seconds(-1)) },
      write { [table] in try table.put(2, for: "k") },
      write { [table] in try table.put(3, for: "k") },
      write { try other.put(4, for: "k") },
    ])
    waitUntil { store.queuedCount == 3 }
    gate.open()
    withExtendedLifetime(threads) { waitUntil { codes.withLock { $0.count } == 5 } }
    #expect(codes.withLock { $0.sorted() } == ["invalidExpiry", "none", "none", "none", "none"])
    #expect(try other.get("k", as: Int.self) == 4)
    #expect(try [2, 3].contains(table.get("k", as: Int.self)))
    try store.close()
    var keys: [String] = []
    for await change in heard { keys.append(change.key ?? "") }
    #expect(keys == ["first", "k", "k"])
  }

  @Test("If the disk fails, each write of the commit throws, and later ones too")
  func brokenDisk() throws {
    gate.close()
    let codes = SharedLock<[String]>([])
    func put(_ index: Int) -> @Sendable () -> Void {
      { [table] in
        let code = code { try table.put(index, for: "\(index)") }
        codes.withLock { $0.append(code) }
      }
    }
    var threads = try start([put(0)])
    gate.waitForArrival()
    threads += try start((1...5).map(put))
    waitUntil { store.queuedCount == 5 }
    disk.plan(.cutPower(at: 0))
    gate.open()
    withExtendedLifetime(threads) { waitUntil { codes.withLock { $0.count } == 6 } }
    #expect(codes.withLock { $0.count } == 6)
    #expect(codes.withLock { !$0.contains("none") })
    #expect(try table.all.keys() == [])
  }

  @Test("Many threads put and delete, and nothing is lost or reported twice")
  func crowd() throws {
    let counts = SharedLock((deleted: 0, failed: 0))
    let threads = try start(
      (0..<8).map { thread in
        { [table] in
          for round in 0..<60 {
            do {
              try table.put(round, for: "\(thread) \(round)")
              try table.put(thread, for: "shared \(round % 3)")
              if try round % 2 == 0 && table.delete("\(thread) \(round)") {
                counts.withLock { $0.deleted += 1 }
              }
            } catch {
              counts.withLock { $0.failed += 1 }
            }
          }
        }
      })
    _ = consume threads
    #expect(counts.withLock { $0.deleted } == 8 * 30)
    #expect(counts.withLock { $0.failed } == 0)
    #expect(try table.count() == 8 * 30 + 3)
  }
}
