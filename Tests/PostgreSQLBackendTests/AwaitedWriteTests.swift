import Foundation
import Locks
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import TestServer
import Testing

@testable import PostgreSQLBackend
@testable import StoredObjectsCore

@Suite("Writes of containers that wait for PostgreSQL", .needsServer)
struct AwaitedWriteTests {
  @Test("200 containers that wait for their server hold a handful of threads", .hangLimit)
  func threads() async throws {
    let songs = try await PlayedSongs(200)
    let rows = try String(decoding: JSONEncoder().encode(songs.rows), as: UTF8.self)
    // In a process in which nothing else uses threads.
    await #expect(processExitsWith: .success) {
      [
        url = songs.database.server.url() as String, name = songs.database.store as String,
        rows = rows as String
      ] in
      let backend = try PostgreSQLBackend(url, store: name)
      let rows = try JSONDecoder().decode([UInt32].self, from: Data(rows.utf8))
      let containers = try rows.map { _ in
        try StoreContainer(backend: backend, classes: [Song.self])
      }
      let lock = try backend.pool.takeUncounted()
      _ = try lock.run([
        Statement("begin"),
        Statement(
          """
          select pg_advisory_xact_lock(\(Schema.lockClass), id)::text from stored_objects.stores
          where name = $1
          """, [.text(name)]),
      ])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (container, row) in zip(containers, rows) {
          group.addTask { try await container.write { try play(row, in: $0) } }
        }
        #expect(await isMet { backend.underWay.withLock { $0.count } == 200 })
        // That of the poller.
        #expect(await isMet { ThreadPool.shared.busyCount <= 1 })
        #expect(await isMet { ThreadPool.shared.threadCount <= 2 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count < 60)
        #expect(backend.underWay.withLock { $0.count } == 200)
        _ = try lock.run([Statement("rollback")])
        try await group.waitForAll()
      }
    }
    #expect(try songs.plays() == Array(repeating: 1, count: 200))
  }

  @Test(
    "Writes of many containers, machines and threads are all made, each once", .hangLimit,
    arguments: TestDatabase.keys)
  func together(_ key: EncryptionKey?) async throws {
    let songs = try await PlayedSongs(4, key: key)
    var configuration = PostgreSQLConfiguration()
    configuration.maximumConnectionCount = 2
    let machines = try (0..<3).map { _ in try songs.database.backend(configuration) }
    let rows = songs.rows
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<48 {
        let container = try songs.container(machines[index % 3])
        group.addTask {
          // Ten conflicts in a row end a write.
          while await storeErrorOf({
            try await container.write { store in
              try play(rows[index % 4], in: store)
              store.insert(Song())
            }
          })?.code == .conflict {}
        }
      }
      for machine in machines {
        group.addTask {
          let store = Store(backend: machine)
          try store.register(Song.self)
          for _ in 0..<5 { try store.transaction(attempts: 100) { try play(rows[0], in: store) } }
        }
      }
      try await group.waitForAll()
    }
    #expect(try songs.plays().reduce(0, +) == 63)
    let store = Store(backend: try songs.database.backend())
    try store.register(Song.self)
    #expect(try store.count(of: Song.self) == 52)
  }

  @Test(
    "A write whose connection is cut is made once, and those behind it follow in order",
    .hangLimit, arguments: [TestProxy.Cut.afterRequest, .beforeAnswer])
  func cut(_ cut: TestProxy.Cut) async throws {
    let server = try TestServer.shared.get()
    let proxy = try TestProxy(before: server)
    defer { proxy.close() }
    let songs = try await PlayedSongs(1, through: proxy)
    let (container, row, order) = (try songs.container(), songs.rows[0], SharedLock<[Int]>([]))
    for round in 0..<3 {
      let first = songs.backend.lastCommitNumber
      // The request of the commit is the next one after that for news.
      let requests = SharedLock(0)
      proxy.beforeRequests {
        let count = requests.withLock { count in
          count += 1
          return count
        }
        if count == 2 + round % 2 { proxy.cut(cut) }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<5 {
          group.addTask {
            try await container.write { try play(row, in: $0) }
            order.withLock { $0.append(number) }
          }
        }
        try await group.waitForAll()
      }
      proxy.beforeRequests {}
      #expect(songs.backend.lastCommitNumber > first)
      #expect(try songs.plays() == [5 * (round + 1)])
    }
    #expect(order.withLock { $0.count } == 15)
  }

  @Test("Without an answer in time, a write fails, and later ones succeed", .hangLimit)
  func timeout() async throws {
    var configuration = PostgreSQLConfiguration()
    configuration.timeout = .milliseconds(500)
    let songs = try await PlayedSongs(2, configuration)
    let (container, rows) = (try songs.container(), songs.rows)
    let lock = try HeldLock(songs.database)
    let error = await storeErrorOf { try await container.write { try play(rows[0], in: $0) } }
    #expect(error?.code == .reopenNeeded)
    try lock.release()
    try await container.write { try play(rows[1], in: $0) }
    let plays = try songs.plays()
    // The answer to the first one was lost.
    #expect(plays[1] == 1 && plays[0] <= 1)
  }

  @Test("A server that can't be reached any more fails writes", .hangLimit)
  func unreachable() async throws {
    let server = try TestServer.shared.get()
    let proxy = try TestProxy(before: server)
    defer { proxy.close() }
    var configuration = PostgreSQLConfiguration()
    configuration.timeout = .milliseconds(500)
    let songs = try await PlayedSongs(1, through: proxy, configuration)
    let (container, row) = (try songs.container(), songs.rows[0])
    proxy.cut(.everything)
    #expect(await storeErrorOf { try await container.write { try play(row, in: $0) } } != nil)
    proxy.cut(.nothing)
    try await container.write { try play(row, in: $0) }
    #expect(try songs.plays() == [1])
  }

  @Test("A cancelled task gets the result of a write that has begun", .hangLimit)
  func cancelling() async throws {
    let songs = try await PlayedSongs(2)
    let (container, rows) = (try songs.container(), songs.rows)
    let lock = try HeldLock(songs.database)
    let first = Task { try await container.write { try play(rows[0], in: $0) } }
    #expect(await isMet { songs.backend.underWay.withLock { $0.count } == 1 })
    let second = Task { try await container.write { try play(rows[1], in: $0) } }
    #expect(await isMet { container.writes.waitingCount == 1 })
    first.cancel()
    second.cancel()
    try lock.release()
    try await first.value
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(try songs.plays() == [1, 0])
  }

  @Test("Closing a container waits for the write that waits for the server", .hangLimit)
  func closing() async throws {
    let songs = try await PlayedSongs(1)
    let (container, row) = (try songs.container(), songs.rows[0])
    let lock = try HeldLock(songs.database)
    let write = Task { try await container.write { try play(row, in: $0) } }
    #expect(await isMet { songs.backend.underWay.withLock { $0.count } == 1 })
    let hasClosed = SharedLock(false)
    let close = Task {
      try await container.close()
      hasClosed.withLock { $0 = true }
    }
    try await Task.sleep(for: .milliseconds(50))
    #expect(!hasClosed.withLock { $0 })
    try lock.release()
    try await write.value
    try await close.value
    #expect(await storeErrorOf { try await container.write { try play(row, in: $0) } } != nil)
    #expect(try songs.plays() == [1])
  }

  @Test("A write that fails discards its own changes only", .hangLimit)
  func failing() async throws {
    struct Unwanted: Error {}
    let songs = try await PlayedSongs(1)
    let (container, row) = (try songs.container(), songs.rows[0])
    let lock = try HeldLock(songs.database)
    let first = Task { try await container.write { try play(row, in: $0) } }
    #expect(await isMet { songs.backend.underWay.withLock { $0.count } == 1 })
    // These wait for the first one, and share a commit.
    let others = (0..<4).map { number in
      Task {
        try await container.write { store in
          try play(row, in: store)
          if number == 1 { throw Unwanted() }
          return try store.object(Song.self, rowID: row)?.plays
        }
      }
    }
    #expect(await isMet { container.writes.waitingCount == 4 })
    let last = songs.backend.coordinator.journal.lastNumber
    try lock.release()
    try await first.value
    var seen: Set<Int> = []
    for (number, other) in others.enumerated() {
      if number == 1 {
        await #expect(throws: Unwanted.self) { try await other.value }
      } else {
        try await seen.insert(#require(other.value))
      }
    }
    #expect(seen == [2, 3, 4])
    #expect(try songs.plays() == [4])
    #expect(songs.backend.lastCommitNumber == last + 2)
  }

  @Test("An instrument gets the saves and the commits of writes")
  func instrument() async throws {
    let songs = try await PlayedSongs(1)
    let (container, row) = (try songs.container(), songs.rows[0])
    let instrument = RecordingInstrument()
    songs.backend.instrument = instrument
    try await container.write { try play(row, in: $0) }
    #expect(instrument.kinds.withLock { $0 } == [.commit, .save])
  }
}

private final class RecordingInstrument: StoreInstrument {
  let kinds = SharedLock<[StoreOperation.Kind]>([])
  func didEnd(_ operation: StoreOperation) { kinds.withLock { $0.append(operation.kind) } }
  func didLookUp(_ lookUps: StoreLookUps) {}
}

/// A store with songs, in a database of the tests.
private struct PlayedSongs {
  let database: TestDatabase
  let backend: PostgreSQLBackend
  let rows: [UInt32]

  init(
    _ count: Int, key: EncryptionKey? = nil, through proxy: TestProxy? = nil,
    _ configuration: PostgreSQLConfiguration = .init()
  ) async throws {
    database = try TestDatabase(key: key)
    backend = try database.backend(through: proxy, configuration)
    rows = try await StoreContainer(backend: backend, classes: [Song.self]).write { store in
      (0..<count).map { _ in
        let song = Song()
        store.insert(song)
        return song.rowID
      }
    }
  }

  func container(_ backend: PostgreSQLBackend? = nil) throws -> StoreContainer {
    try StoreContainer(backend: backend ?? self.backend, classes: [Song.self])
  }

  /// The numbers of plays, as another process reads them.
  func plays() throws -> [Int] {
    let store = Store(backend: try database.backend())
    try store.register(Song.self)
    return try rows.map { try #require(try store.object(Song.self, rowID: $0)).plays }
  }
}

/// Counts a play of a song.
@Sendable private func play(_ row: UInt32, in store: Store) throws {
  let song = try #require(try store.object(Song.self, rowID: row))
  song.plays += 1
}

/// The error of a closure.
private func storeErrorOf(_ body: () async throws -> Void) async -> StoreError? {
  do { try await body() } catch { return error as? StoreError }
  return nil
}
