import Files
import Foundation
import Locks
import StoreEngine
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// A file system on which every file lies on another machine.
private final class RemoteFiles: FileSystem {
  func perform(
    _ call: FileCall, _ range: Range<Int>?, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int {
    // The first status that is asked of the file is that of its file system.
    if call == .status, path().hasSuffix("/.shared") { return 1 }
    return try SystemFiles.shared.perform(call, range, on: path(), body)
  }
}

@Suite("The file that processes share")
struct SharedFileTests {
  /// Each word has a cache line.
  private static let wordDistance = 64
  private static let wordCount = 8

  /// Writes a word of the file past the processes that have it in memory.
  private func spoil(_ file: FileHandle, _ index: Int, _ word: UInt64) throws {
    try file.seek(toOffset: UInt64(index * Self.wordDistance))
    try file.write(contentsOf: Data((0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }))
  }

  private func words(_ file: FileHandle) throws -> [UInt64] {
    try (0..<Self.wordCount).map { index in
      try file.seek(toOffset: UInt64(index * Self.wordDistance))
      let bytes = try #require(try file.read(upToCount: 8))
      return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  @Test(
    "The times of the saves of all processes are counted, and a strange file has none",
    arguments: [Durability.full, .process])
  func saveTimes(_ durability: Durability) async throws {
    let path = try makeTemporaryDirectory() + "/store"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let kind = TestedBackend.tokyoCabinet
    let alone = try kind.open(path)
    #expect(StoreActivity(ofStoreAt: path) == nil)
    try alone.commit { $0.insert(2, in: try alone.table(named: "Song"), [1]) }
    try alone.commit { $0.update(2, in: try alone.table(named: "Song"), [2]) }
    #expect(StoreActivity(ofStoreAt: path)?.saves.count == 2)
    try alone.snapshot().close()
    #expect(StoreActivity(ofStoreAt: path)?.saves.count == 2)
    try alone.close()
    #expect(StoreActivity(ofStoreAt: path) == nil)
    let backends = try (0..<2).map { _ in
      try kind.open(path, durability: durability, sharing: .processes)
    }
    let look = try #require(StoreActivity(ofStoreAt: path))
    for (number, backend) in backends.enumerated() {
      let table = try backend.table(named: "Song")
      for round in UInt8(0)...UInt8(number + 1) {
        try backend.commit { $0.update(2, in: table, [round]) }
      }
    }
    #expect(try #require(StoreActivity(ofStoreAt: path)).since(look).saves.count == 5)
    // So are those that wait for the disk without a thread.
    let queue = try #require(backends[0] as? any CommitQueueing)
    var changes = ChangeSetBuilder()
    changes.update(2, in: try backends[0].table(named: "Song"), [9])
    let queued = changes.changeSet
    _ = try await withCheckedThrowingContinuation {
      (waiting: CheckedContinuation<Commit, any Error>) in
      do {
        try queue.enqueue(queued, CommitRequest(), mayWait: true) { outcome in
          waiting.resume(with: outcome.mapError { $0 })
        }
      } catch { waiting.resume(throwing: error) }
    }
    let times = try #require(StoreActivity(ofStoreAt: path)).since(look).saves
    let longest = try #require(times.time(ofShare: 1))
    #expect(times.count == 6 && longest > .zero && longest < .seconds(60))
    for backend in backends { try backend.close() }
    #expect(StoreActivity(ofStoreAt: path) == nil)
    for bytes in [Data(), Data(repeating: 255, count: 100)] {
      try bytes.write(to: URL(filePath: path + "/.shared"))
      #expect(StoreActivity(ofStoreAt: path) == nil)
    }
    try Data(repeating: 255, count: 4096).write(to: URL(filePath: path + "/.shared"))
    #expect(StoreActivity(ofStoreAt: path)?.saves.time(ofShare: 0.5) != nil)
  }

  @Test("A damaged or an earlier word loses no commit", arguments: 0..<8)
  func spoiltWords(_ index: Int) throws {
    var generator = Seeds.generator(for: "spoilt words, \(index)")
    let kind = TestedBackend.tokyoCabinet
    try withTemporaryDirectory(in: .memory) { parent in
      let path = parent + "/store"
      let backends = try (0..<3).map { _ in try kind.open(path, sharing: .processes) }
      let file = try FileHandle(forUpdating: URL(filePath: path + "/.shared"))
      var earlier = [try words(file)]
      var model: [UInt32: [UInt8]] = [:]
      for round in 0..<60 {
        let backend = backends[Int.random(in: 0..<3, using: &generator)]
        let table = try backend.table(named: "Song")
        let row = UInt32.random(in: 2..<12, using: &generator)
        model[row] = [UInt8(round)]
        try backend.commit { $0.update(row, in: table, [UInt8(round)]) }
        earlier.append(try words(file))
        let old = earlier[Int.random(in: 0..<earlier.count, using: &generator)][index]
        let kinds: [UInt64] = [old, old, 0, .max, .random(in: 0 ... .max, using: &generator)]
        try spoil(file, index, kinds[Int.random(in: 0..<kinds.count, using: &generator)])
      }
      for backend in backends { try backend.close() }
      let last = try kind.open(path)
      defer { try? last.close() }
      #expect(try last.records(in: last.table(named: "Song")) == model)
      #expect(last.lastCommitNumber == 60)
    }
  }

  @Test("A store on a network file system can't be shared")
  func network() throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let error = #expect(throws: StoreError.self) {
        try TestedBackend.tokyoCabinet.open(
          parent + "/store", sharing: .processes, in: RemoteFiles())
      }
      #expect(error?.code == .ioError && error?.message.contains("network") == true)
    }
  }

  @Test("A process that saves now and then gets its turn next to one that saves without pause")
  func turns() throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let kind = TestedBackend.tokyoCabinet
      let (path, isDone) = (parent + "/store", SharedLock(false))
      let (busy, calm) = (
        try kind.open(path, sharing: .processes), try kind.open(path, sharing: .processes)
      )
      let count = SharedLock(0)
      var thread: JoinedThread? = JoinedThread {
        while !isDone.withLock({ $0 }) {
          #expect(throws: Never.self) {
            let table = try busy.table(named: "Busy")
            try busy.commit { $0.update(2, in: table, [1]) }
          }
          count.withLock { $0 += 1 }
        }
      }
      while count.withLock({ $0 }) == 0 { Thread.sleep(forTimeInterval: 0.001) }
      let table = try calm.table(named: "Calm")
      for round in UInt8(0)..<30 {
        let start = ContinuousClock.now
        try calm.commit { $0.update(2, in: table, [round]) }
        #expect(start.duration(to: .now) < .seconds(5))
        Thread.sleep(forTimeInterval: 0.002)
      }
      isDone.withLock { $0 = true }
      _ = thread
      thread = nil
      for backend in [busy, calm] { try backend.close() }
    }
  }
}
