import Foundation
import KeyValueStore
import StoredObjectsCore
import Testing

@Suite("Tasks")
struct ConcurrencyTests {
  @Test("Tasks count without losing an increment, and readers see complete batches")
  func counting() async throws {
    let store = try KeyValueStore(backend: MemoryBackend())
    let table = try await store.createTable("a")
    try await table.put(["left": 0, "right": 0])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<100 {
            try await store.write { batch in
              let left = try batch.get("left", from: table, as: Int.self) ?? 0
              try batch.put(left + 1, for: "left", in: table)
              try batch.put(left + 1, for: "right", in: table)
            }
            await Task.yield()
          }
        }
        group.addTask {
          for _ in 0..<100 {
            let items = try table.all.values(as: Int.self)
            #expect(items.count == 2 && items[0] == items[1])
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try table.get("right", as: Int.self) == 800)
  }

  @Test("Tasks create, drop, fill and count tables concurrently")
  func tables() async throws {
    let store = try KeyValueStore(backend: MemoryBackend())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<6 {
        group.addTask {
          for round in 0..<60 {
            let name = "\(round % 3)"
            do {
              let table = try await store.createTable(name)
              try await table.put(name, for: "\(task)", expiresAfter: .seconds(60))
              // Items are those of this table, or the table is gone.
              for item in try table.all.items() { #expect(item.value == .string(name)) }
              _ = try table.count()
              if round % 5 == task { try await store.dropTable(name) }
            } catch let error as StoreError where error.code == .noSuchTable {
            }
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    for name in store.tableNames() {
      #expect(try store.table(name).all.items().allSatisfy { $0.value == .string(name) })
    }
  }

  @Test("Counts are right while other tasks sweep")
  func countingWhileSweeping() async throws {
    let clock = TestClock()
    let store = try KeyValueStore(backend: MemoryBackend()) { clock.now }
    let table = try await store.createTable("a")
    try await store.write { batch in
      for index in 0..<2000 {
        try batch.put(
          index, for: "\(index)", in: table, expiresAfter: index < 1990 ? .seconds(1) : nil)
      }
    }
    clock.advance(2)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for _ in 0..<40 {
          try await table.put(0, for: "1999")
          await Task.yield()
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<40 {
            let count = try table.count()
            #expect(count == 10)
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

@Suite("Observation")
struct ObservationTests {
  let clock = TestClock()
  let store: KeyValueStore
  let table: KeyValueTable

  init() throws {
    let clock = clock
    store = try KeyValueStore(backend: MemoryBackend()) { clock.now }
    table = try store.createTable("a")
  }

  private func texts(_ changes: KeyValueChanges) async -> [String] {
    var texts: [String] = []
    for await change in changes {
      texts.append("\(change.kind) \(change.table) \(change.key ?? "-")")
    }
    return texts
  }

  @Test("Listeners get every write that they have asked for, in order")
  func changes() async throws {
    let (all, one, prefixed) = (store.changes(), table.changes(), table.changes(prefix: "x%"))
    try await table.put(1, for: "k", expiresAfter: .seconds(1))
    try await table.put(2, for: "x%y")
    try await table.put(2, for: "xxy")
    try await table.delete("none")
    clock.advance(2)
    try await store.purgeExpired()
    let other = try await store.createTable("b")
    try await store.write { batch in
      try batch.put(1, for: "m", in: other)
      try batch.delete("x%y", from: table)
    }
    struct Stop: Error {}
    try? await store.write { batch in
      try batch.put(1, for: "never", in: table)
      throw Stop()
    }
    try await table.removeAll()
    try await store.dropTable("a")
    let ofTable = [
      "put a k", "put a x%y", "put a xxy", "expired a k", "deleted a x%y", "cleared a -",
      "dropped a -",
    ]
    #expect(await texts(one) == ofTable)
    #expect(
      await texts(prefixed) == ["put a x%y", "deleted a x%y", "cleared a -", "dropped a -"])
    try store.close()
    #expect(
      Set(await texts(all)) == Set(ofTable + ["created b -", "put b m"]))
    #expect(await texts(store.changes()) == [])
  }

  @Test("The value of a key arrives at once, and the newest one after each change")
  func values() async throws {
    try await table.put(1, for: "k")
    var values = table.values(of: "k", as: Int.self).makeAsyncIterator()
    #expect(try await values.next() == .some(1))
    try await table.put(9, for: "other")
    try await table.put(2, for: "k")
    #expect(try await values.next() == .some(2))
    try await table.put(3, for: "k")
    try await table.put(4, for: "k")
    #expect(try await values.next() == .some(4))
    try await table.delete("k")
    let gone = try await values.next()
    #expect(gone == .some(nil))
    try await table.put("text", for: "k")
    await #expect(throws: StoreError.self) { try await values.next() }
    try await store.dropTable("a")
    // The sequence ends because the table was dropped.
    #expect(try await values.next() == nil)
  }
}
