import Foundation
import Locks
import PostgreSQLBackend
import StoredObjectsCore
import TestServer
import Testing

/// The number of failovers that `./dev crash failover` asks for; nil in other runs, which have no
/// time for them.
private let failoverCount = ProcessInfo.processInfo.environment["STOREDOBJECTS_FAILOVERS"]
  .flatMap { Int($0) }

@Suite(
  "Failovers of PostgreSQL",
  .enabled(if: failoverCount != nil, "./dev crash failover runs it, because it takes minutes"),
  .enabled(if: TestCluster.isAvailable, "patroni, etcd-server or curl isn't installed"))
struct FailoverTests {
  /// The outcome of the saves of a program.
  private struct Saves {
    /// The rows of saves that have returned, or that were found by their token.
    var made: Set<UInt32> = []
    /// The rows of saves that have thrown, and of which no token was found.
    var failed: Set<UInt32> = []
    /// The number of saves that had to be looked for.
    var inDoubt = 0
    /// The times at which a save has returned.
    var times: [ContinuousClock.Instant] = []
    /// Errors that must not be.
    var faults: [String] = []

    mutating func add(_ other: Saves) {
      made.formUnion(other.made)
      failed.formUnion(other.failed)
      inDoubt += other.inDoubt
      times += other.times
      faults += other.faults
    }

    /// The longest time without a save.
    var longestPause: Duration {
      let sorted = times.sorted()
      return zip(sorted, sorted.dropFirst()).map { $0.duration(to: $1) }.max() ?? .zero
    }
  }

  /// The rows of counters; two programs share each, and get in each other's way.
  private static let counters: ClosedRange<UInt32> = 2...5

  private static func counter(of worker: UInt32) -> UInt32 {
    counters.lowerBound + worker % UInt32(counters.count)
  }

  private func open(_ cluster: TestCluster, timeout: Duration) throws -> PostgreSQLBackend {
    var configuration = PostgreSQLConfiguration()
    (configuration.timeout, configuration.connectTimeout) = (timeout, .seconds(2))
    return try PostgreSQLBackend(cluster.url, store: "Failover", configuration: configuration)
  }

  /// Retries until a closure succeeds, because there may be no primary now.
  private func patiently<Result>(_ body: () throws -> Result) throws -> Result {
    let deadline = Date() + 120
    while true {
      do { return try body() } catch {
        if Date() > deadline { throw error }
        Thread.sleep(forTimeInterval: 0.2)
      }
    }
  }

  @Test("No acknowledged save is lost, none is made twice, and none in doubt is judged wrongly")
  func failovers() throws {
    let cluster = try TestCluster()
    defer { cluster.close() }
    let backend = try open(cluster, timeout: .seconds(60))
    let table = try backend.table(named: "Event")
    for row in Self.counters { try backend.commit(change(.insert, row, [0, 0, 0, 0], table)) }
    let isDone = SharedLock(false)
    let all = SharedLock(Saves())
    let group = DispatchGroup()
    // Some give up early, and have to ask what became of their save.
    for (worker, seconds) in [2, 3, 20, 30, 3, 4, 5, 2].enumerated() {
      group.enter()
      Thread.detachNewThread {
        let saves = work(cluster, UInt32(worker + 1), .seconds(seconds)) { isDone.withLock { $0 } }
        all.withLock { $0.add(saves) }
        group.leave()
      }
    }
    for number in 0..<(failoverCount ?? 0) {
      let fault = TestCluster.Fault.allCases[number % TestCluster.Fault.allCases.count]
      let start = Date()
      try cluster.fail(fault)
      print("failover \(number + 1), \(fault): \(Int(Date().timeIntervalSince(start))) s")
    }
    isDone.withLock { $0 = true }
    group.wait()
    try check(all.withLock { $0 }, cluster)
    backend.close()
  }

  private func check(_ saves: Saves, _ cluster: TestCluster) throws {
    let backend = try patiently { try open(cluster, timeout: .seconds(60)) }
    let table = try backend.table(named: "Event")
    let rows = saves.made.union(saves.failed).sorted()
    var found: Set<UInt32> = []
    for start in stride(from: 0, to: rows.count, by: 500) {
      var batch = RecordBatch()
      let part = Array(rows[start..<min(start + 500, rows.count)])
      try backend.copyRecords(part, of: table, to: &batch)
      found.formUnion(batch.entries.map(\.rowID))
    }
    let count = try Self.counters.reduce(0) { try $0 + Int(self.count(at: $1, of: table, backend)) }
    print(
      """
      \(saves.made.count) saves made, \(saves.failed.count) failed, \(saves.inDoubt) in doubt, \
      longest pause \(saves.longestPause)
      """)
    #expect(saves.made.count > 100)
    #expect(saves.faults == [])
    #expect(saves.made.subtracting(found) == [], "lost")
    #expect(found.intersection(saves.failed) == [], "judged as not made")
    #expect(count == found.count, "each save adds one to a counter, once")
    #expect(try backend.recordCount(in: table) == found.count + Self.counters.count)
    backend.close()
  }

  // MARK: The programs

  /// Saves until the test ends it.
  private func work(
    _ cluster: TestCluster, _ worker: UInt32, _ timeout: Duration, until isDone: () -> Bool
  ) -> Saves {
    var saves = Saves()
    do {
      var backend = try patiently { try open(cluster, timeout: timeout) }
      var row = worker << 24
      while !isDone() {
        row += 1
        let token = UUID()
        do {
          try save(row, Self.counter(of: worker), token, backend)
          saves.made.insert(row)
          saves.times.append(.now)
        } catch let error as StoreError where error.code == .conflict {
          continue
        } catch let error as StoreError where error.code == .reopenNeeded {
          saves.inDoubt += 1
          backend.close()
          let isMade = try patiently {
            backend = try open(cluster, timeout: timeout)
            return try backend.commit(withToken: token) != nil
          }
          if isMade { saves.made.insert(row) } else { saves.failed.insert(row) }
        } catch let error as StoreError where error.code == .ioError {
          saves.failed.insert(row)
          Thread.sleep(forTimeInterval: 0.1)
        }
      }
      backend.close()
    } catch {
      saves.faults.append("\(error)")
    }
    return saves
  }

  private func count(
    at row: UInt32, of table: TableID, _ backend: PostgreSQLBackend
  ) throws -> UInt32 {
    try #require(try backend.record(row, in: table)).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Adds a row, and one to a counter.
  private func save(
    _ row: UInt32, _ counter: UInt32, _ token: UUID, _ backend: PostgreSQLBackend
  ) throws {
    let table = try backend.table(named: "Event")
    var basis = CommitBasis(upTo: backend.lastCommitNumber)
    basis.rows = [(table, counter)]
    let count = try self.count(at: counter, of: table, backend) + 1
    let next = (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * UInt32($0))) }
    let changes = ChangeSet(
      bytes: next,
      tables: [
        .init(
          table: table,
          records: [
            .init(kind: .update, rowID: counter, range: 0..<4),
            .init(kind: .insert, rowID: row, range: 0..<4),
          ])
      ])
    try backend.commit(changes, CommitRequest(token: token, basis: basis))
  }
}
