import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("A log that began next to an earlier one")
struct EarlierLogTests {
  private static let slot = CommitLogSlot(
    epoch: 9, size: 8192, end: 5000,
    earlier: .init(firstEpoch: 7, end: 6000, isSynced: true))

  @Test("Its header names the earlier logs, and a change of any byte is detected")
  func header() throws {
    let bytes = Self.slot.bytes
    #expect(bytes.count == CommitLogFormat.slotSize && bytes[8] == 5)
    #expect(try CommitLogSlot(bytes) == Self.slot)
    for offset in 0..<CommitLogSlot.length {
      for mask in [1, 0x80] as [UInt8] {
        var spoilt = bytes
        spoilt[offset] ^= mask
        #expect(try CommitLogSlot(spoilt) == nil, "\(offset)")
      }
    }
  }

  @Test("A header without earlier logs has its own version")
  func plain() throws {
    var slot = Self.slot
    slot.earlier = nil
    let bytes = slot.bytes
    #expect(bytes[8] == 4 && bytes[44...].allSatisfy { $0 == 0 })
    #expect(try CommitLogSlot(bytes) == slot)
  }

  @Test("A header that names a later log as an earlier one is invalid")
  func later() throws {
    var slot = Self.slot
    slot.earlier?.firstEpoch = 9
    #expect(try CommitLogSlot(slot.bytes) == nil)
  }

  @Test("The name of an earlier log is its epoch, and no other name is valid")
  func names() {
    for epoch in [1, 10, UInt64.max] {
      let name = StoreDirectory.earlierLog(epoch)
      #expect(StoreDirectory.epoch(ofEarlierLog: name) == epoch)
      #expect(StoreDirectory.isLog(name))
    }
    for name in ["Commit.log", "Commit..log", "Commit.01.log", "Commit.+1.log", "Commit.x.log"] {
      #expect(StoreDirectory.epoch(ofEarlierLog: name) == nil, "\(name)")
    }
  }

  @Test("Every header that the log writes names the earlier logs until the log is emptied")
  func kept() throws {
    var (storage, first) = try LogFixture.make(epoch: 8)
    try first.append(.changes, [[1, 2, 3]])
    let ending = first.ending
    #expect(ending == .init(firstEpoch: 8, end: first.offset, isSynced: true))
    storage = try TestLog()
    let slot = try CommitLogWriter.begin(
      storage.file, CommitLogSlot(epoch: 9, size: LogFixture.growth, earlier: ending),
      isSynced: true)
    var writer = try CommitLogWriter(
      storage.file, durability: .full, slot: slot, slotIndex: 0, sequence: 0,
      offset: CommitLogFormat.firstBatch, growth: LogGrowth(LogFixture.growth))
    try writer.append(.changes, [[UInt8](repeating: 4, count: 9000)])
    try writer.noteClosing()
    #expect(try LogFixture.reader(storage)?.slot.earlier == ending)
    try writer.removeAll()
    #expect(try LogFixture.reader(storage)?.slot.earlier == nil)
  }

  @Test("A reused log file has no earlier batch after the next log has begun in it")
  func reused() throws {
    var (storage, old) = try LogFixture.make(epoch: 8)
    try LogFixture.append([[1], [2], [3]], to: &old)
    _ = try CommitLogWriter.begin(
      storage.file, CommitLogSlot(epoch: 9, size: 4096, earlier: Self.slot.earlier),
      isSynced: true)
    let (payloads, tail) = try LogFixture.read(storage)
    #expect(payloads.isEmpty && tail == .clean)
    #expect(try LogFixture.reader(storage)?.slot.size == storage.file.size())
  }
}
