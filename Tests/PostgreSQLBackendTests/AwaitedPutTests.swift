import Foundation
import KeyValueStoreCore
import Locks
import StoreEngine
import StoredObjectsTestSupport
import TestFiles
import TestServer
import Testing

@testable import PostgreSQLBackend

@Suite("Awaited writes of key-value stores that wait for PostgreSQL", .needsServer)
struct AwaitedPutTests {
  private let database: TestDatabase

  init() throws { database = try TestDatabase() }

  private func openStore(through proxy: TestProxy? = nil) throws -> KeyValueStore {
    try KeyValueStore(backend: database.backend(through: proxy))
  }

  @Test("30 stores that wait for their server hold a handful of threads", .hangLimit)
  func threads() async throws {
    let name = try database.newDatabase()
    // In a process in which nothing else uses threads.
    await #expect(processExitsWith: .success) {
      [url = database.server.url(database: name) as String] in
      let backends = try (0..<30).map { try PostgreSQLBackend(url, store: "Notes \($0)") }
      let tables = try backends.map { backend in
        let table = try KeyValueStore(backend: backend).createTable("notes")
        try table.put(0, for: "count")
        return table
      }
      let lock = try backends[0].pool.takeUncounted()
      _ = try lock.run([
        Statement("begin"), Statement("lock table stored_objects.commits in share mode"),
      ])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (place, table) in tables.enumerated() {
          group.addTask {
            if place % 2 == 0 { return try await table.put(1, for: "count") }
            try await table.store.write { batch in
              let count = try batch.get("count", from: table, as: Int.self) ?? 0
              try batch.put(count + 1, for: "count", in: table)
            }
          }
        }
        let waitingCount = { backends.count { $0.underWay.withLock { $0.count } == 1 } }
        #expect(await isMet { waitingCount() == 30 })
        // That of the poller.
        #expect(await isMet { ThreadPool.shared.busyCount <= 1 })
        #expect(await isMet { ThreadPool.shared.threadCount <= 2 })
        #expect(waitingCount() == 30)
        _ = try lock.run([Statement("rollback")])
        try await group.waitForAll()
      }
      for table in tables { #expect(try table.get("count", as: Int.self) == 1) }
    }
  }

  @Test("Tasks on three machines lose no increment, and writes of one key keep their order")
  func increments() async throws {
    let stores = [try openStore(), try openStore(), try openStore()]
    try await stores[0].createTable("counts")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<12 {
        group.addTask {
          let table = try stores[number % 3].table("counts")
          for step in 0..<20 {
            try await table.store.write { batch in
              let count = try batch.get("count", from: table, as: Int.self) ?? 0
              try batch.put(count + 1, for: "count", in: table)
            }
            try await table.put(step, for: "\(number)")
            #expect(try table.get("\(number)", as: Int.self) == step)
          }
        }
      }
      try await group.waitForAll()
    }
    let table = try openStore().table("counts")
    #expect(try table.get("count", as: Int.self) == 240)
    #expect(try table.count() == 13)
  }

  @Test("Writes whose connection is cut are made once", .hangLimit)
  func cut() async throws {
    var random = Seeds.generator(for: "cut connections of awaited puts")
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let store = try openStore(through: proxy)
    let table = try await store.createTable("counts")
    let cuts = SharedLock(SeededGenerator(seed: random.next()))
    proxy.beforeRequests {
      switch cuts.withLock({ Int.random(in: 0..<12, using: &$0) }) {
      case 0: proxy.cut(.afterRequest)
      case 1: proxy.cut(.beforeAnswer)
      default: break
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<12 {
            while true {
              do {
                try await store.write { batch in
                  let count = try batch.get("count", from: table, as: Int.self) ?? 0
                  try batch.put(count + 1, for: "count", in: table)
                }
                break
              } catch let error as StoreError where error.code == .ioError {
                // A read was cut twice: nothing was written.
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    proxy.beforeRequests {}
    proxy.cut(.nothing)
    #expect(try openStore().table("counts").get("count", as: Int.self) == 96)
  }

  @Test("Without an answer in time, a put fails, and later ones succeed", .hangLimit)
  func timeout() async throws {
    var configuration = PostgreSQLConfiguration()
    configuration.timeout = .milliseconds(500)
    let store = try KeyValueStore(backend: database.backend(configuration))
    let table = try await store.createTable("notes")
    let lock = try HeldLock(database)
    await #expect(throws: StoreError.self) { try await table.put(1, for: "a") }
    try lock.release()
    try await table.put(2, for: "a")
    try await table.put(3, for: "b")
    #expect(try table.get("a", as: Int.self) == 2)
  }
}
