import Files
import Locks
import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoreEngine

/// A disk that writes everything, and then says that there was no room.
private final class FullDisk: FileSystem {
  private let base: CrashingDirectory
  private let end = Locked<Int?>(nil)

  init(_ base: CrashingDirectory) { self.base = base }

  /// Has the write fail, once, that ends at an offset.
  func failWrite(endingAt offset: Int) { end.withLock { $0 = offset } }

  func perform(
    _ call: FileCall, _ range: Range<Int>?, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int {
    let result = try base.perform(call, range, on: path(), body)
    let refuses = end.withLock { end in
      guard call == .write, let range, end == range.upperBound else { return false }
      end = nil
      return true
    }
    if refuses { throw SystemError(call: "pwrite", path: path(), number: 28) }
    return result
  }
}

@Suite("The end of a log")
struct LogTailTests {
  typealias Log = LogFixture

  @Test(
    "A batch whose write fails after all of it is on the disk is in no log",
    arguments: [10, 1 << 17], [CommitLogFormat.Kind.changes, .checkpoint])
  func refusedAfterWriting(size: Int, kind: CommitLogFormat.Kind) throws {
    var generator = Seeds.generator(for: "batches that were refused")
    let (log, _) = try Log.make()
    let disk = FullDisk(log.disk)
    let file = try StoreFile(
      FileLocation(log.disk.file("Commit.log").path, in: disk), writable: true)
    var writer = try CommitLogWriter(
      file, durability: .full, slot: CommitLogSlot(epoch: 1, size: Log.growth), slotIndex: 0,
      sequence: 0, offset: CommitLogFormat.firstBatch, growth: LogGrowth(1 << 18))
    try writer.append(.changes, [[UInt8](repeating: 1, count: 1 << 17)])
    disk.failWrite(
      endingAt: CommitLogFormat.end(ofBatchAt: writer.offset, payload: size))
    #expect(throws: StoreError.self) {
      try writer.append(kind, [[UInt8](repeating: 2, count: size)])
    }
    #expect(!writer.hasFailed)
    #expect(try Log.read(log).0.count == 1)
    #expect(try Log.read(log.afterPowerCut(using: &generator)).0.count == 1)
    try writer.append(.changes, [[3]])
    #expect(try Log.read(log).0.map(\.count) == [1 << 17, 1])
  }

  @Test("A first batch with a random header is damaged, neither unused bytes nor an earlier batch")
  func noise() throws {
    var generator = Seeds.generator(for: "noise at the beginning of a log")
    let epoch: UInt64 = 1 << 50
    for _ in 0..<100 {
      var (storage, writer) = try Log.make(epoch: epoch, durability: .none)
      try Log.append([[1, 2, 3]], to: &writer)
      let noise = (0..<24).map { _ in UInt8.random(in: 1...255, using: &generator) }
      try storage.write(noise, at: CommitLogFormat.firstBatch)
      #expect(try Log.read(storage).1 != .clean, "\(noise)")
    }
  }

  @Test("A first batch of the previous epoch is outdated, and so is one of a much earlier epoch")
  func earlierEpochs() throws {
    let epoch: UInt64 = 1 << 50
    for earlier in [epoch - 1, epoch - (1 << 30)] {
      var (storage, writer) = try Log.make(epoch: earlier, durability: .none)
      try Log.append([[1, 2, 3]], to: &writer)
      try storage.write(CommitLogSlot(epoch: epoch, size: Log.growth).bytes, at: 0)
      let (payloads, tail) = try Log.read(storage)
      #expect(payloads.isEmpty && tail == .clean)
    }
  }

  /// A log behind whose one save there is room that somebody has filled with headers.
  private func hostile(_ size: Int) throws -> TestLog {
    let (storage, first) = try Log.make()
    var writer = first
    try writer.append(.changes, [[1]])
    var tail = DataBuffer()
    let start = writer.offset
    for position in stride(from: start, to: size - 64, by: CommitLogFormat.batchHeaderSize) {
      tail.write(UInt64(size - position - 64))
      tail.write(UInt64(1))
      tail.write(UInt64(1000))
      tail.write(UInt64(0))
    }
    try storage.file.resize(to: size)
    try storage.write(tail.bytes, at: start)
    return storage
  }

  @Test("4 MiB of overlapping headers are refused after a few checks")
  func hostileTail() throws {
    let storage = try hostile(4 << 20)
    let time = try ContinuousClock().measure {
      let error = #expect(throws: StoreError.self) { try Log.read(storage) }
      #expect(error?.code == .damaged)
      let scan = try CommitLogScan(storage.file)
      #expect(scan.isDamaged && scan.batches.count == 1)
      #expect(!scan.findings(path: "log").isEmpty)
    }
    #expect(time < .seconds(20), "\(time)")
  }
}
