import Foundation
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

  @Test("After hours of updates, insertions and deletions, saves are as fast as at the beginning")
  func churn() async throws {
    // 8 hours in 20 minutes: vacuum looks every 2.5 seconds instead of every minute.
    let server = try TestServer(
      at: TestServer.newDirectory("-churn"), settings: "-c autovacuum_naptime=2500ms")
    defer { server.stop() }
    let store = try Self.open(server.url())
    try setVacuum(server)
    let folder = try FileManager.default.url(
      for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: URL(filePath: "/tmp"),
      create: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let seed = Seeds.current
    async let rates = measure(server, folder)
    await withTaskGroup { group in
      for number in 0..<Self.workerCount {
        group.addTask { [url = server.url(), folder = folder.path] in
          // A process of its own, as on a machine of its own.
          await #expect(processExitsWith: .success) {
            [
              url = url as String, folder = folder as String, seed = seed as UInt64,
              number = number as Int
            ] in
            var worker = try ChurnWorker(ChurnTests.open(url), folder, number, seed: seed)
            try worker.run()
          }
          // Ends the others, too, if this one has failed.
          Self.end(folder)
        }
      }
    }
    let (first, last) = (
      Self.median(try await rates.prefix(5)), Self.median(try await rates.suffix(5))
    )
    try #require(first > 0)
    print("first quarter: \(first)/s, last quarter: \(last)/s: \(100 * last / first) %")
    #expect(last * 10 >= first * 9)
    let counts = try (0..<Self.workerCount).map { number in
      let text = try String(contentsOf: folder.appending(path: "\(number)"), encoding: .utf8)
      return try #require(Int(text))
    }
    #expect(try store.count(of: Event.self) == counts.reduce(0, +))
    #expect(try store.check().isSound)
  }

  /// Tells the workers to end.
  private static func end(_ folder: String) {
    _ = FileManager.default.createFile(atPath: folder + "/" + ChurnWorker.endFile, contents: nil)
  }

  private static func median(_ rates: some Collection<Int>) -> Int {
    rates.sorted()[rates.count / 2]
  }

  private static func open(_ url: String) throws -> Store {
    let store = Store(backend: try PostgreSQLBackend(url, store: "Churn"))
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

  /// Returns the saves a second in each interval, after an interval for the workers to begin, and
  /// tells the workers to end.
  private func measure(_ server: TestServer, _ folder: URL) throws -> [Int] {
    defer { Self.end(folder.path) }
    let target = Self.workerCount * ChurnWorker.objectCount * 9 / 10
    let isEnded = {
      FileManager.default.fileExists(atPath: folder.path + "/" + ChurnWorker.endFile)
    }
    while try number("coalesce(max(count), 0) from stored_objects.tables where kind = 0", server)
      < target, !isEnded()
    { Thread.sleep(forTimeInterval: 0.1) }
    let interval = Double(churnSeconds ?? 0) / Double(Self.intervalCount)
    Thread.sleep(forTimeInterval: interval)
    print("interval  saves/s  dead rows and MB of stores, tables, records, keys, commits")
    return try (1...Self.intervalCount).map { number in
      let (before, start) = (try saveCount(server), ContinuousClock.now)
      Thread.sleep(forTimeInterval: interval)
      let count = try saveCount(server) - before
      let rate = Int(Double(count) / (ContinuousClock.now - start).seconds)
      print("\(number)  \(rate)  \(try tables(server))")
      return rate
    }
  }

  private func saveCount(_ server: TestServer) throws -> Int {
    try number("max(number) from stored_objects.commits", server)
  }

  private func number(_ query: String, _ server: TestServer) throws -> Int {
    let text = try server.sql("select " + query)
    return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
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
}

/// A program that changes objects of its own until the test is done.
private struct ChurnWorker {
  /// The average number of objects.
  static let objectCount = 2500
  /// The file that tells the workers to end.
  static let endFile = "end"

  private let store: Store
  private let folder: String
  private let number: Int
  private var random: SeededGenerator
  private var rows: [UInt32] = []

  init(_ store: Store, _ folder: String, _ number: Int, seed: UInt64) {
    (self.store, self.folder, self.number) = (store, folder, number)
    random = SeededGenerator(seed: seed &+ UInt64(number))
  }

  /// Updates, inserts and deletes objects, and writes the number of those that are left.
  mutating func run() throws {
    while !FileManager.default.fileExists(atPath: folder + "/" + Self.endFile) { try save() }
    try "\(rows.count)".write(toFile: "\(folder)/\(number)", atomically: true, encoding: .utf8)
  }

  private mutating func save() throws {
    if rows.count < Self.objectCount * 9 / 10 {
      // Fills the store at first.
      try insert(rows.isEmpty ? 1 : 50)
    } else if Bool.random(using: &random) {
      try update(rows[Int.random(in: rows.indices, using: &random)])
    } else if Int.random(in: 0..<2 * Self.objectCount, using: &random) < rows.count {
      rows.swapAt(Int.random(in: rows.indices, using: &random), rows.count - 1)
      try delete(rows.removeLast())
    } else {
      try insert(1)
    }
  }

  private mutating func insert(_ count: Int) throws {
    let events = (0..<count).map { _ in Event() }
    for event in events {
      change(event)
      store.insert(event)
    }
    try store.saveChanges()
    rows += events.map(\.rowID)
  }

  private mutating func update(_ row: UInt32) throws {
    change(try #require(try store.object(Event.self, rowID: row)))
    try store.saveChanges()
  }

  private func delete(_ row: UInt32) throws {
    store.delete(try #require(try store.object(Event.self, rowID: row)))
    try store.saveChanges()
  }

  private mutating func change(_ event: Event) {
    event.kind = .random(in: 0..<100, using: &random)
    event.text = String(UInt64.random(in: 0 ... .max, using: &random), radix: 36)
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
