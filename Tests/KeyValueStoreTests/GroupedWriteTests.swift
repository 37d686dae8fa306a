import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import Synchronization
import Testing

@testable import KeyValueStoreCore

@Suite("Writes of several threads")
struct GroupedWriteTests {
  private let disk: SimulatedDisk
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

  @Test("Whoever reads waits for no sync, and sees nothing that is not safe yet")
  func readers() throws {
    try table.put(1, for: "x")
    gate.close()
    let isDone = Locked(false)
    let threads = try start([
      { [table] in
        try? table.put(2, for: "x")
        isDone.withLock { $0 = true }
      }
    ])
    gate.waitForArrival()
    // The sync stands still. All of this would, too, if it waited for it.
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

  @Test("What gathers while the disk is busy becomes one commit with one sync")
  func grouping() throws {
    gate.close()
    let (begun, done) = (Locked(0), Locked<[String]>([]))
    let changes = store.changes()
    func put(_ index: Int) -> @Sendable () -> Void {
      { [table] in
        begun.withLock { $0 += 1 }
        do { try table.put(index, for: "\(index)") } catch { return }
        done.withLock { $0.append("\(index)") }
      }
    }
    var threads = try start([put(0)])
    gate.waitForArrival()
    threads += try start((1...20).map(put))
    waitUntil { begun.withLock { $0 } == 21 && store.writes.waitingCount == 20 }
    #expect(done.withLock { $0 }.isEmpty)
    disk.plan(.none)
    gate.open()
    withExtendedLifetime(threads) { waitUntil { done.withLock { $0.count } == 21 } }
    #expect(try table.all.values(as: Int.self).sorted() == Array(0...20))
    // One for what was under way, if it is counted, and one for the twenty.
    #expect((1...2).contains(disk.operations.count { $0 == .synchronize }))
    _ = changes
  }

  @Test("A write that fails fails alone, and one of the same key comes in another commit")
  func failures() async throws {
    let other = try await store.createTable("b")
    gate.close()
    let heard = table.changes()
    let codes = Locked<[String]>([])
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
    waitUntil { store.writes.waitingCount == 4 }
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

  @Test("When the disk fails, every write of the commit says so, and later ones too")
  func brokenDisk() throws {
    gate.close()
    let codes = Locked<[String]>([])
    func put(_ index: Int) -> @Sendable () -> Void {
      { [table] in
        let code = code { try table.put(index, for: "\(index)") }
        codes.withLock { $0.append(code) }
      }
    }
    var threads = try start([put(0)])
    gate.waitForArrival()
    threads += try start((1...5).map(put))
    waitUntil { store.writes.waitingCount == 5 }
    disk.plan(.cutPower(at: 0))
    gate.open()
    withExtendedLifetime(threads) { waitUntil { codes.withLock { $0.count } == 6 } }
    #expect(codes.withLock { $0.count } == 6)
    #expect(codes.withLock { !$0.contains("none") })
    #expect(try table.all.keys() == [])
  }

  @Test("Many threads put and delete, and nothing is lost or told twice")
  func crowd() throws {
    let counts = Locked((deleted: 0, failed: 0))
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
