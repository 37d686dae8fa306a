import Files
import Locks
import TestFiles
import Testing

@testable import StoreEngine

@Suite("Growth of a log during saves")
struct BackgroundSyncTests {
  typealias Log = LogFixture

  /// Larger than what a log grows by.
  private let large = [UInt8](repeating: 7, count: 9 << 10)

  /// A log whose saves don't wait for the disk; what it grows by is synced on a thread or at once.
  private func make(
    usesThread: Bool, isClosed: Bool = false
  ) throws -> (TestLog, CommitLogWriter) {
    let (storage, _) = try Log.make(durability: .process)
    var slot = CommitLogSlot(epoch: 1, size: Log.growth)
    slot.isClosed = isClosed
    let writer = try CommitLogWriter(
      storage.file, durability: .process, slot: slot,
      slotIndex: 0, sequence: 0, offset: CommitLogFormat.firstBatch,
      growth: LogGrowth(Log.growth, usesThread: usesThread))
    storage.disk.plan(.none)
    return (storage, writer)
  }

  @Test("Growth of a log is synced before a header records it, with the next save")
  func order() throws {
    var (storage, writer) = try make(usesThread: false)
    try writer.append(.changes, [large])
    let size = try storage.file.size()
    #expect(size > Log.growth && storage.disk.syncCount == 1)
    #expect(try Log.reader(storage)?.slot.size == Log.growth)
    try writer.append(.changes, [[1]])
    let slot = try #require(try Log.reader(storage)?.slot)
    #expect(slot.size == size && slot.end == CommitLogFormat.firstBatch)
    #expect(storage.disk.syncCount == 1)
    let short = try TestLog(Array(storage.content.prefix(size - 1)))
    #expect(Log.error { _ = try Log.read(short) }?.code == .damaged)
  }

  @Test("The first save after an opening syncs once, also if its log grows")
  func firstSave() throws {
    var (storage, writer) = try make(usesThread: true, isClosed: true)
    let (file, synced) = (storage.file, SharedLock<[(slot: CommitLogSlot?, size: Int?)]>([]))
    storage.disk.observeSyncs {
      let found = (try? CommitLogReader(file)?.slot, try? file.size())
      synced.withLock { $0.append(found) }
    }
    try writer.append(.changes, [large])
    let size = try storage.file.size()
    #expect(size > Log.growth)
    // The disk has an open log of the earlier size, and its room.
    let first = try #require(synced.withLock(\.self).first)
    #expect(first.slot?.isClosed == false && first.slot?.size == Log.growth && first.size == size)
    #expect(try Log.reader(storage)?.slot.size == size)
    try writer.append(.changes, [[1]])
    #expect(storage.disk.syncCount == 1 && synced.withLock(\.count) == 1)
    #expect(try Log.read(storage).0 == [large, [1]])
  }

  @Test("No save waits for a disk that is busy with the growth of the log")
  func waitsForNothing() throws {
    var (storage, writer) = try make(usesThread: true)
    let isDiskReady = SharedLock(false)
    storage.disk.observeSyncs { isDiskReady.change(once: { $0 }) { _ in } }
    for _ in 0..<5 { try writer.append(.changes, [large]) }
    #expect(storage.disk.syncCount == 0)
    #expect(try Log.reader(storage)?.slot.size == Log.growth)
    isDiskReady.change { $0 = true }
    try writer.noteClosing()
    #expect(try Log.reader(storage)?.slot.isClosed == true)
    #expect(try Log.read(storage).0 == [[UInt8]](repeating: large, count: 5))
  }

  @Test("After a failed sync nothing more is saved", arguments: [false, true])
  func failure(usesThread: Bool) throws {
    var (storage, writer) = try make(usesThread: usesThread)
    try growThenSync(&writer, storage, usesThread: usesThread)
    try writer.noteClosing()
    let sync = try #require(storage.disk.operations.firstIndex(of: .syncData))

    (storage, writer) = try make(usesThread: usesThread)
    storage.disk.plan(.fail(at: sync, errno: 5))
    try? growThenSync(&writer, storage, usesThread: usesThread)
    #expect(Log.error { try writer.noteClosing() }?.code == .reopenNeeded)
    #expect(writer.hasFailed)
    #expect(Log.error { try writer.append(.changes, [[1]]) }?.code == .reopenNeeded)
  }

  /// Lets a log grow by a batch; a thread's sync comes after it, so that calls have one order.
  private func growThenSync(
    _ writer: inout CommitLogWriter, _ storage: TestLog, usesThread: Bool
  ) throws {
    let isWritten = SharedLock(!usesThread)
    storage.disk.observeSyncs { isWritten.change(once: { $0 }) { _ in } }
    defer { isWritten.change { $0 = true } }
    try writer.append(.changes, [large])
  }
}
