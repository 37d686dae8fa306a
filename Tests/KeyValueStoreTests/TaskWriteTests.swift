import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import KeyValueStoreCore

@Suite("Writes of tasks", .hangLimit)
struct TaskWriteTests {
  private let disk: CrashingDirectory
  private let gate: Gate
  private let store: KeyValueStore
  private let table: KeyValueTable

  init() throws { (disk, gate, store, table) = try gatedStore() }

  /// Waits without a thread; fails when it takes too long.
  private func wait(until isTrue: () -> Bool) async throws {
    for _ in 0..<20_000 where !isTrue() { try await Task.sleep(for: .milliseconds(1)) }
    try #require(isTrue())
  }

  @Test("However many tasks wait for the disk, others continue, and all become few commits")
  func pool() async throws {
    gate.close()
    let done = SharedLock(0)
    func put(_ index: Int) -> Task<Void, any Error> {
      Task { [table] in
        try await table.put(index, for: "\(index)")
        done.withLock { $0 += 1 }
      }
    }
    var puts = [put(0)]
    try await wait { gate.hasArrival }
    puts += (1..<200).map(put)
    try await wait { store.taskWrites.waitingCount == 199 }
    // The pool has fewer threads than there are writers. None of this would come to its end if one
    // of them waited on a thread of it.
    let sums = await withTaskGroup(of: Int.self) { group in
      for part in 0..<50 {
        group.addTask { [table] in
          await Task.yield()
          return (try? table.count()) == 0 ? part : -1
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sums == 49 * 50 / 2)
    #expect(done.withLock { $0 } == 0)
    disk.plan(.none)
    gate.open()
    for put in puts { try await put.value }
    #expect(try table.all.values(as: Int.self).sorted() == Array(0..<200))
    #expect(disk.syncCount <= 2)
  }

  @Test("A task cancelled before its turn writes nothing, and one in progress completes")
  func cancellation() async throws {
    gate.close()
    let first = Task { [table] in try await table.put(1, for: "first") }
    try await wait { gate.hasArrival }
    let second = Task { [table] in try await table.put(2, for: "second") }
    let isRun = SharedLock(false)
    let batch = Task { [store, table] in
      try await store.write { batch in
        isRun.withLock { $0 = true }
        try batch.put(3, for: "third", in: table)
      }
    }
    try await wait { store.taskWrites.waitingCount == 2 }
    second.cancel()
    batch.cancel()
    // They throw at once, though the disk is blocked.
    let ofPut = await #expect(throws: StoreError.self) { try await second.value }
    let ofBatch = await #expect(throws: StoreError.self) { try await batch.value }
    #expect(ofPut?.code == .cancelled && ofBatch?.code == .cancelled)
    first.cancel()
    gate.open()
    try await first.value
    #expect(try table.all.keys() == ["first"])
    #expect(!isRun.withLock { $0 })
    let late = Task { [table] in
      while !Task.isCancelled { await Task.yield() }
      try await table.put(4, for: "late")
    }
    late.cancel()
    let ofLate = await #expect(throws: StoreError.self) { try await late.value }
    #expect(ofLate?.code == .cancelled)
    #expect(try table.count() == 1)
  }

  @Test(
    "Writes of one key and batches keep their order, are commits of their own, and share a sync")
  func turns() async throws {
    gate.close()
    let changes = table.changes()
    var puts = [Task { [table] in try await table.put(0, for: "k") }]
    try await wait { gate.hasArrival }
    for number in 1...5 {
      puts.append(Task { [table] in try await table.put(number, for: "k") })
      try await wait { store.taskWrites.waitingCount == number }
    }
    let isRun = SharedLock(false)
    let batch = Task { [store, table] in
      try await store.write { batch in
        isRun.withLock { $0 = true }
        return try batch.get("k", from: table, as: Int.self)
      }
    }
    try await wait { store.taskWrites.waitingCount == 6 }
    let last = Task { [store, table] in
      try await store.write { batch in
        let value = try batch.get("k", from: table, as: Int.self) ?? 0
        try batch.put(value + 1, for: "k", in: table)
      }
    }
    try await wait { store.taskWrites.waitingCount == 7 }
    disk.plan(.none)
    // The next sync is blocked until all of the five have their place.
    gate.letOnePass()
    try await wait { isRun.withLock { $0 } }
    gate.open()
    #expect(try await batch.value == 5)
    for put in puts { try await put.value }
    try await last.value
    #expect(try table.get("k", as: Int.self) == 6)
    // Those of the first, of the next ones, of the others, and of the one behind the batch.
    #expect(disk.syncCount <= 4)
    try store.close()
    var count = 0
    for await change in changes where change.kind == .put { count += 1 }
    #expect(count == 7)
  }

  @Test("Puts that fail together are tried again one by one")
  func retries() async throws {
    gate.close()
    func put(_ index: Int) -> Task<Void, any Error> {
      Task { [table] in try await table.put(index, for: "\(index)") }
    }
    var puts = [put(0)]
    try await wait { gate.hasArrival }
    puts += (1..<10).map(put)
    try await wait { store.taskWrites.waitingCount == 9 }
    // The first operation is the sync that is blocked.
    disk.plan(.fail(at: 1, errno: 28))
    gate.open()
    for put in puts { try await put.value }
    #expect(try table.count() == 10)
    #expect(store.backend.lastCommitNumber == 11)
  }

  @Test("Each task gets the error of its own write")
  func errors() async throws {
    try await table.put(1, for: "k")
    await #expect(throws: StoreError.self) {
      try await table.put(2, for: "k", expiresAfter: .seconds(-1))
    }
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await store.write { batch in
        try batch.put(3, for: "k", in: table)
        throw Stop()
      }
    }
    let left = try await store.write { try $0.get("k", from: table, as: Int.self) }
    #expect(left == 1)
    try await store.dropTable("a")
    await #expect(throws: StoreError.self) { try await table.put(4, for: "k") }
    try store.close()
    await #expect(throws: StoreError.self) { try await store.createTable("b") }
  }

  @Test("If the disk fails, all tasks of the commit get the error")
  func brokenDisk() async throws {
    gate.close()
    func put(_ index: Int) -> Task<Void, any Error> {
      Task { [table] in try await table.put(index, for: "\(index)") }
    }
    var puts = [put(0)]
    try await wait { gate.hasArrival }
    puts += (1..<20).map(put)
    try await wait { store.taskWrites.waitingCount == 19 }
    disk.plan(.cutPower(at: 0))
    gate.open()
    for put in puts { await #expect(throws: StoreError.self) { try await put.value } }
    #expect(try table.count() == 0)
  }

  @Test("Tasks and threads write concurrently, and nothing is lost")
  func crowd() async throws {
    let threads = (0..<3).map { thread in
      JoinedThread { [table] in
        for round in 0..<50 {
          do { try table.put(round, for: "thread \(thread) \(round)") } catch { return }
        }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<100 {
        group.addTask { [store, table] in
          for round in 0..<5 { try await table.put(round, for: "task \(task) \(round)") }
          #expect(try await table.delete("task \(task) 0"))
          try await store.write { batch in
            let sum = try batch.get("sum", from: table, as: Int.self) ?? 0
            try batch.put(sum + 1, for: "sum", in: table)
          }
        }
      }
      try await group.waitForAll()
    }
    try await wait { (try? table.prefix("thread ").count()) == 150 }
    _ = consume threads
    #expect(try table.get("sum", as: Int.self) == 100)
    #expect(try table.prefix("task ").count() == 400)
  }
}

@Suite("Async forms")
struct TaskFormTests {
  /// No `Sendable`, and put all the same.
  private final class Note: Encodable {
    var text = "x"
  }

  @Test("Each call that writes has an async form with the same effect")
  func forms() async throws {
    let clock = TestClock()
    let store = try KeyValueStore(backend: MemoryBackend()) { clock.now }
    let table = try await store.createTable("a")
    #expect(try await store.createTable("a").name == "a")
    try await table.put(["a1": 1, "a2": 2, "b1": 3, "b2": 4, "c": 5])
    try await table.put(Note(), for: "note")
    try await table.put(6, for: "soon", expiresAfter: .seconds(1))
    #expect(try table.get("note", as: [String: String].self) == ["text": "x"])
    #expect(try await table.delete(["a1", "nobody"]) == 1)
    #expect(try await table.deleteAll(prefix: "a") == 1)
    #expect(try await table.prefix("b").delete() == 2)
    #expect(try await table.delete("nobody") == false)
    #expect(try table.all.keys() == ["c", "note", "soon"])
    clock.advance(2)
    #expect(try await store.purgeExpired() == 1)
    try await table.removeAll()
    #expect(try table.count() == 0)
    try await store.dropTable("a")
    #expect(!store.hasTable("a"))
  }

  @Test("A store that tasks have written to ends when it is released")
  func ending() async throws {
    for _ in 0..<100 {
      weak var ended: KeyValueStore?
      do {
        let store = try KeyValueStore(backend: MemoryBackend())
        ended = store
        let table = try await store.createTable("a")
        // The last to hold the store may be the store's own thread.
        Task { try await table.put(1, for: "k") }
      }
      for _ in 0..<10_000 where ended != nil { try await Task.sleep(for: .milliseconds(1)) }
      #expect(ended == nil)
    }
  }
}
