import Foundation
import Locks
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsTestSupport
import TestServer
import Testing

/// The number of seconds that `./dev crash churn` asks for; nil in other runs, which have no time
/// for it.
private let churnSeconds = ProcessInfo.processInfo.environment["STOREDOBJECTS_CHURN_SECONDS"]
  .flatMap { Int($0) }

/// An object with two indexes, whose keys change with it.
private final class Event: StoredObject {
  @Content var kind = 0
  @Content var text = ""

  override class var indexes: [AttributeIndex] {
    [AttributeIndex("kind", \Event.kind), AttributeIndex("text", \Event.text)]
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(kind)
    buffer.write(text)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    kind = try buffer.read()
    text = try buffer.readString()
  }
}

@Suite(
  "Churn of PostgreSQL", .needsServer,
  .enabled(if: churnSeconds != nil, "./dev crash churn runs it, because it takes minutes"))
struct ChurnTests {
  /// The number of intervals, each of which has a rate.
  private static let intervalCount = 20
  private static let workerCount = 4
  /// The number of objects that a worker has, on average.
  private static let objectCount = 2500

  /// The counts that the workers and the test share.
  private struct State {
    var saveCount = 0
    var objectCount = 0
    var isDone = false
    var faults: [String] = []
  }

  @Test("After hours of updates, insertions and deletions, saves are as fast as at the beginning")
  func churn() throws {
    // 8 hours in 20 minutes: vacuum looks every 2.5 seconds instead of every minute.
    let server = try TestServer(
      at: TestServer.newDirectory("-churn"), settings: "-c autovacuum_naptime=2500ms")
    defer { server.stop() }
    let store = try open(server)
    try setVacuum(server)
    let state = Locked(State())
    let group = DispatchGroup()
    for number in 0..<Self.workerCount {
      group.enter()
      Thread.detachNewThread {
        do { try work(server, state, UInt64(number)) } catch {
          state.withLock { $0.faults.append("\(error)") }
        }
        group.leave()
      }
    }
    let rates = try measure(server, state)
    state.withLock { $0.isDone = true }
    group.wait()
    #expect(state.withLock { $0.faults } == [])
    let (first, last) = (Self.median(rates.prefix(5)), Self.median(rates.suffix(5)))
    print("first quarter: \(first)/s, last quarter: \(last)/s: \(100 * last / first) %")
    #expect(last * 10 >= first * 9)
    #expect(try store.count(of: Event.self) == state.withLock { $0.objectCount })
    #expect(try store.check().isSound)
  }

  private static func median(_ rates: some Collection<Int>) -> Int {
    rates.sorted()[rates.count / 2]
  }

  private func open(_ server: TestServer) throws -> Store {
    let store = Store(backend: try PostgreSQLBackend(server.url(), store: "Churn"))
    try store.register(Event.self)
    return store
  }

  /// Makes the settings of the page for operators.
  private func setVacuum(_ server: TestServer) throws {
    for table in ["stores", "tables"] {
      try server.sql(
        """
        alter table stored_objects.\(table)
        set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0)
        """)
    }
  }

  // MARK: Measuring

  /// Returns the saves a second in each interval, after an interval for the workers to begin.
  private func measure(_ server: TestServer, _ state: Locked<State>) throws -> [Int] {
    let target = Self.workerCount * Self.objectCount * 9 / 10
    while state.withLock({ $0.objectCount < target && $0.faults.isEmpty }) {
      Thread.sleep(forTimeInterval: 0.1)
    }
    let interval = Double(churnSeconds ?? 0) / Double(Self.intervalCount)
    Thread.sleep(forTimeInterval: interval)
    print("interval  saves/s  dead rows and MB of stores, tables, records, keys, commits")
    return try (1...Self.intervalCount).map { number in
      let (before, start) = (state.withLock { $0.saveCount }, ContinuousClock.now)
      Thread.sleep(forTimeInterval: interval)
      let count = state.withLock { $0.saveCount } - before
      let rate = Int(Double(count) / (ContinuousClock.now - start).seconds)
      print("\(number)  \(rate)  \(try tables(server))")
      return rate
    }
  }

  private func tables(_ server: TestServer) throws -> String {
    try server.sql(
      """
      select string_agg(n_dead_tup || ' ' ||
        round(pg_total_relation_size(relid) / 1048576.0, 1), ', ' order by place)
      from pg_stat_user_tables
        join unnest(array['stores', 'tables', 'records', 'keys', 'commits'])
          with ordinality as t (name, place) on relname = name
      where schemaname = 'stored_objects'
      """)
  }

  // MARK: Working

  /// Updates, inserts and deletes objects of its own until the test is done.
  private func work(_ server: TestServer, _ state: Locked<State>, _ number: UInt64) throws {
    let store = try open(server)
    var random = SeededGenerator(seed: Seeds.current &+ number)
    var rows: [UInt32] = []
    while !state.withLock({ $0.isDone }) {
      let before = rows.count
      if before < Self.objectCount * 9 / 10 {
        // Fills the store at first.
        rows += try insert(before == 0 ? 1 : 50, store, &random)
      } else if Bool.random(using: &random) {
        try update(rows[Int.random(in: rows.indices, using: &random)], store, &random)
      } else if Int.random(in: 0..<2 * Self.objectCount, using: &random) < before {
        let place = Int.random(in: rows.indices, using: &random)
        rows.swapAt(place, before - 1)
        try delete(rows.removeLast(), store)
      } else {
        rows += try insert(1, store, &random)
      }
      state.withLock {
        $0.saveCount += 1
        $0.objectCount += rows.count - before
      }
    }
  }

  private func insert(
    _ count: Int, _ store: Store, _ random: inout SeededGenerator
  ) throws -> [UInt32] {
    let events = (0..<count).map { _ in Event() }
    for event in events {
      change(event, &random)
      store.insert(event)
    }
    try store.saveChanges()
    return events.map(\.rowID)
  }

  private func update(_ row: UInt32, _ store: Store, _ random: inout SeededGenerator) throws {
    change(try #require(try store.object(Event.self, rowID: row)), &random)
    try store.saveChanges()
  }

  private func delete(_ row: UInt32, _ store: Store) throws {
    store.delete(try #require(try store.object(Event.self, rowID: row)))
    try store.saveChanges()
  }

  private func change(_ event: Event, _ random: inout SeededGenerator) {
    event.kind = .random(in: 0..<100, using: &random)
    event.text = String(UInt64.random(in: 0 ... .max, using: &random), radix: 36)
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
