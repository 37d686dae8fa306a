import CDBBackend
import Files
import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoreEngine

/// Helpers of the tests of the log.
enum LogFixture {
  static let growth = 8 << 10

  static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef")
    return bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
  }

  /// Returns the bytes for hexadecimal digits.
  static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
    }
  }

  /// A log as it is made, with an epoch, and its writer.
  static func make(
    epoch: UInt64 = 1, durability: Durability = .full
  ) throws -> (TestLog, CommitLogWriter) {
    let slot = CommitLogSlot(epoch: epoch, size: growth).bytes
    let storage = try TestLog(slot + [UInt8](repeating: 0, count: growth - slot.count))
    return (storage, try writer(storage, durability, epoch: epoch))
  }

  static func writer(
    _ storage: TestLog, _ durability: Durability, epoch: UInt64, sequence: UInt64 = 0,
    offset: Int = CommitLogFormat.firstBatch
  ) throws -> CommitLogWriter {
    try CommitLogWriter(
      storage.file, durability: durability, slot: CommitLogSlot(epoch: epoch, size: growth),
      slotIndex: 0, sequence: sequence, offset: offset, growth: LogGrowth(growth))
  }

  static func reader(_ storage: TestLog) throws -> CommitLogReader? {
    try CommitLogReader(storage.file)
  }

  /// The payloads, and how the log ends.
  static func read(_ storage: TestLog) throws -> ([[UInt8]], CommitLogReader.Tail) {
    var reader = try #require(try reader(storage))
    var payloads: [[UInt8]] = []
    while let batch = try reader.next() { payloads.append(batch.payload) }
    return (payloads, try reader.tail())
  }

  static func append(_ payloads: [[UInt8]], to writer: inout CommitLogWriter) throws {
    for payload in payloads { try writer.append(.changes, [payload]) }
  }

  /// Changes a byte of a file.
  static func flip(_ storage: TestLog, at offset: Int) throws {
    try storage.write([storage.file.read(1, at: offset)[0] ^ 0x10], at: offset)
  }

  static func error(_ body: () throws -> Void) -> StoreError? {
    do { try body() } catch { return error as? StoreError }
    return nil
  }
}

@Suite("The commit log")
struct CommitLogTests {
  typealias Log = LogFixture
  private let payloads: [[UInt8]] = [[1, 2, 3], [], Array(repeating: 7, count: 3000), [9]]

  @Test("Appended batches are read in order, in pieces or not")
  func roundTrip() throws {
    var (storage, writer) = try Log.make()
    try Log.append(payloads, to: &writer)
    try writer.append(.changes, [[1], [2, 3], []])
    let (found, tail) = try Log.read(storage)
    #expect(found == payloads + [[1, 2, 3]])
    #expect(tail == .clean)
  }

  @Test("A new log is empty, and so is an unfinished one")
  func new() throws {
    #expect(try Log.reader(TestLog()) == nil)
    #expect(try Log.reader(TestLog([UInt8](repeating: 0, count: 5000))) == nil)
  }

  @Test("The example of the format page is written")
  func example() throws {
    var (storage, writer) = try Log.make(epoch: 1)
    var changes = ChangeSet()
    changes.bytes = [7, 8, 9]
    changes.tables = [
      .init(table: TableID(index: 0), records: [.init(kind: .insert, rowID: 2, range: 0..<3)])
    ]
    let index = changes.encodedIndex(.example) { _ in
      "A"
    } orderedName: { _ in
      .init("A", kind: .data)
    }
    try writer.append(.commit, [index, changes.bytes])
    let found = try storage.content[CommitLogFormat.firstBatch..<writer.offset - 3]
    #expect(
      Log.hex(found)
        == """
        5d0000000000000001000000000000000000000000000000cb1452fd04000000\
        0100000000000000000102030405060708090a0b0c0d0e0f40420f0000000000ffffffffffffffff00000000\
        010000000100000041010000000002000000000000000000000003000000000000000000000003000000000000\
        00070809
        """)
  }

  @Test("A log of version 2 continues, and has the new checksums after it is emptied")
  func plainChecksums() throws {
    var slot = CommitLogSlot(epoch: 1, size: Log.growth)
    slot.checksums = .plain
    #expect(slot.bytes[8] == 2)
    let batch = Log.bytes(Self.versionTwo)
    let bytes = slot.bytes + [UInt8](repeating: 0, count: Log.growth - slot.bytes.count)
    let storage = try TestLog(bytes)
    try storage.write(batch, at: CommitLogFormat.firstBatch)
    var reader = try #require(try Log.reader(storage))
    #expect(try reader.next()?.payload.suffix(3) == [7, 8, 9])
    var writer = try CommitLogWriter(
      storage.file, durability: .full, slot: reader.slot, slotIndex: 0, sequence: 1,
      offset: reader.offset, growth: LogGrowth(Log.growth))
    try Log.append([[1]], to: &writer)
    #expect(try Log.read(storage).0.count == 2)
    try writer.noteClosing()
    #expect(try storage.content[512 + 8] == 2)
    #expect(try CommitLogScan(storage.file).batches.count == 2)
    try writer.removeAll()
    #expect(try storage.content[8] == 4)
    try Log.append([[2]], to: &writer)
    #expect(try Log.read(storage).0 == [[2]])
    #expect(try CommitLogScan(storage.file).batches.count == 1)
  }

  /// The example of the format page as versions 2 and 3 had it.
  private static let versionTwo = """
    5d0000000000000001000000000000000000000000000000243fab9004000000\
    0100000000000000000102030405060708090a0b0c0d0e0f40420f0000000000ffffffffffffffff00000000\
    010000000100000041010000000002000000000000000000000003000000000000000000000003000000000000\
    00070809
    """

  @Test("Of batches written together a power cut leaves the first few, which is no damage")
  func cutTogether() throws {
    var random = Seeds.generator(for: "CommitLogTests cutTogether")
    let batches = (1...6).map { [UInt8](repeating: $0, count: 300) }
    var counts: Set<Int> = []
    for _ in 0..<400 {
      var (storage, writer) = try Log.make()
      try Log.append([[0]], to: &writer)
      // The write goes through, and the sync does not.
      storage.disk.plan(.cutPower(at: 1))
      #expect(throws: StoreError.self) {
        try writer.append(batches.map { (.changes, [$0]) })
      }
      let (found, _) = try Log.read(storage.afterPowerCut(using: &random))
      #expect(found == Array(([[0]] + batches).prefix(found.count)) && !found.isEmpty)
      counts.insert(found.count)
    }
    #expect(counts.count > 3)
  }

  @Test("A batch from before commit numbers reads back")
  func olderBatch() throws {
    let payload: [UInt8] = [
      1, 0, 0, 0, 1, 0, 0, 0, 65, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0,
      0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9,
    ]
    let changes = try ChangeSet(encoded: payload, kind: .changes) { name in
      #expect(name == "A")
      return TableID(index: 0)
    } orderedTable: { (_) throws(StoreError) in
      throw StoreError(.invalidName, "There is none.")
    }
    let record = try #require(changes.tables.first?.records.first)
    #expect(changes.bytes == [7, 8, 9] && changes.tables.count == 1 && changes.names.isEmpty)
    #expect(record.kind == .insert && record.rowID == 2 && record.range == 0..<3)
  }

  @Test("A new log begins with a random epoch")
  func randomEpoch() throws {
    let epochs = (0..<100).map { _ in CommitLogSlot.randomEpoch() }
    #expect(Set(epochs).count == 100 && epochs.allSatisfy { $0 > 0 })
    let made = try (0..<2).map { _ in
      try withTemporaryDirectory { directory in
        try CDBBackend(directory: directory).close()
        let log = try StoreFile(directory + "/Commit.log", writable: false)
        return try #require(try CommitLogReader(log)).epoch
      }
    }
    #expect(made[0] != made[1] && made.allSatisfy { $0 > 1 << 20 })
  }

  @Test("A last batch that is truncated anywhere is ignored and counted")
  func truncatedBatch() throws {
    var (storage, writer) = try Log.make()
    try Log.append(Array(payloads.dropLast()), to: &writer)
    let start = writer.offset
    try Log.append([Array(repeating: 5, count: 100)], to: &writer)
    for end in start + 16..<start + 132 {
      let torn = try TestLog(storage.content)
      try torn.write([UInt8](repeating: 0, count: start + 132 - end), at: end)
      let (found, tail) = try Log.read(torn)
      #expect(found == payloads.dropLast())
      #expect(tail == .torn(bytes: 136), "\(end - start)")
    }
  }

  @Test("A last batch with any byte flipped is a torn tail")
  func lastChecksum() throws {
    var (storage, writer) = try Log.make()
    try Log.append([[1, 2, 3]], to: &writer)
    let start = writer.offset
    try Log.append([[4, 5, 6]], to: &writer)
    for offset in start..<start + CommitLogFormat.batchHeaderSize + 3 {
      let spoilt = try TestLog(storage.content)
      try Log.flip(spoilt, at: offset)
      let (found, tail) = try Log.read(spoilt)
      #expect(found == [[1, 2, 3]])
      guard case .torn(let bytes) = tail else {
        Issue.record("byte \(offset - start)")
        continue
      }
      // Unless it is the length that is spoilt, those of the batch.
      #expect(offset < start + 8 || bytes == 40, "byte \(offset - start)")
    }
  }

  @Test("A damaged batch in the middle is reported with its offset, whichever byte is damaged")
  func damagedMiddle() throws {
    var (storage, writer) = try Log.make()
    try Log.append([[1, 2, 3]], to: &writer)
    let start = writer.offset
    try Log.append([[4, 5, 6], [7]], to: &writer)
    for offset in start..<start + CommitLogFormat.batchHeaderSize + 3 {
      let spoilt = try TestLog(storage.content)
      try Log.flip(spoilt, at: offset)
      let failure = Log.error { _ = try Log.read(spoilt) }
      #expect(failure?.code == .damaged)
      #expect(failure?.location.offset == start, "byte \(offset - start)")
    }
  }

  @Test("A batch of an earlier epoch is not replayed")
  func earlierEpoch() throws {
    var (storage, writer) = try Log.make()
    try Log.append([[1], [2], [3]], to: &writer)
    try writer.removeAll()
    #expect(try Log.read(storage).0 == [])
    try Log.append([[4]], to: &writer)
    let (found, tail) = try Log.read(storage)
    #expect(found == [[4]])
    #expect(tail == .clean)
  }

  @Test("Unsynced batches that were lost out of order are dropped, and never reappear")
  func lostOutOfOrder() throws {
    var (storage, writer) = try Log.make(durability: .process)
    try Log.append([[1]], to: &writer)
    let lost = writer.offset
    try Log.append([[2], [3]], to: &writer)
    try storage.write([UInt8](repeating: 0, count: 40), at: lost)
    let (found, tail) = try Log.read(storage)
    #expect(found == [[1]])
    #expect(tail == .torn(bytes: 80))

    var next = try Log.writer(storage, .full, epoch: 1, sequence: 1, offset: lost)
    try next.clearTail()
    // As long as the batch that was lost, so that [3] would follow it.
    try Log.append([[8]], to: &next)
    #expect(try Log.read(storage).0 == [[1], [8]])
  }

  @Test("A partial batch after a power cut is not joined with the end of an older one")
  func tornOverOlder() throws {
    #expect(try Self.acceptedMixtures(.reversedWords) == 0)
    // Until version 3 it did, with every cut between two records.
    #expect(try Self.acceptedMixtures(.plain) > 0)
  }

  /// How many batches pass for whole whose beginning is new and whose end is of an earlier epoch.
  private static func acceptedMixtures(_ order: BatchChecksum.Order) throws -> Int {
    func payload(_ value: UInt8) -> [UInt8] {
      var record = DataBuffer([UInt8](repeating: value, count: 51))
      record.write(CommitLogFormat.checksum(record.bytes))
      // The first part is the same in all batches, as the names of tables are.
      return [UInt8](repeating: 0, count: 80) + record.bytes
    }
    var (storage, writer) = try Log.make()
    try Log.append((0..<20).map(payload), to: &writer)
    let old = try storage.content
    var slot = CommitLogSlot(epoch: 2, size: Log.growth)
    slot.checksums = order
    try storage.write(slot.bytes, at: 0)
    writer = try CommitLogWriter(
      storage.file, durability: .full, slot: slot, slotIndex: 0, sequence: 0,
      offset: CommitLogFormat.firstBatch, growth: LogGrowth(Log.growth))
    try Log.append((100..<120).map(payload), to: &writer)
    let new = try storage.content
    let size = CommitLogFormat.end(ofBatchAt: 0, payload: payload(0).count)
    var count = 0
    for index in [0, 1, 7, 19] {
      let start = CommitLogFormat.firstBatch + index * size
      for middle in start + CommitLogFormat.batchHeaderSize..<start + 112 {
        let found = try Log.read(TestLog(Array(new[..<middle] + old[middle...]))).0
        if found.count > index { count += 1 }
      }
    }
    return count
  }

  @Test("A checkpoint at process leaves no unsynced batch before it, after any power cut")
  func checkpointSyncs() throws {
    var generator = Seeds.generator(for: "a cut at a checkpoint")
    for cut in 0..<8 {
      for _ in 0..<20 {
        var (storage, writer) = try Log.make(durability: .process)
        try Log.append([[1], Array(repeating: 2, count: 600), [3]], to: &writer)
        storage.disk.plan(.cutPower(at: cut))
        do { try writer.append(.checkpoint, [[4]]) } catch {}
        storage.disk.plan(.none)
        let (found, _) = try Log.read(storage.afterPowerCut(using: &generator))
        #expect(found.count <= 4)
      }
    }
  }

  @Test("Two bad headers are damage, and so is a missing header before saves")
  func headers() throws {
    var (storage, writer) = try Log.make()
    try writer.removeAll()
    for offset in [0, CommitLogFormat.slotSize] { try Log.flip(storage, at: offset + 20) }
    #expect(Log.error { _ = try Log.read(storage) }?.code == .damaged)

    var (other, second) = try Log.make()
    try second.removeAll()
    try Log.append([[1]], to: &second)
    try Log.flip(other, at: CommitLogFormat.slotSize + 17)
    #expect(Log.error { _ = try Log.read(other) }?.code == .damaged)
    try other.write([UInt8](repeating: 0, count: CommitLogFormat.firstBatch), at: 0)
    #expect(Log.error { _ = try Log.read(other) }?.code == .damaged)
  }

  @Test("One bad header does no harm if the log is empty")
  func oneHeader() throws {
    var (storage, writer) = try Log.make()
    try writer.removeAll()
    try Log.flip(storage, at: 20)
    #expect(try Log.read(storage).0 == [])
  }

  @Test("A log of a later format is refused, and so is a batch of a later kind")
  func laterFormat() throws {
    let (storage, _) = try Log.make()
    var slot = DataBuffer(CommitLogFormat.magic)
    slot = {
      var buffer = DataBuffer()
      return buffer.write(later: slot.bytes)
    }()
    try storage.write(slot.bytes, at: 0)
    let failure = Log.error { _ = try Log.read(storage) }
    #expect(failure?.message.contains("format 6") == true)

    let (other, _) = try Log.make()
    let header = CommitLogFormat.BatchHeader(length: 0, epoch: 1, sequence: 0, kind: 9)
    try other.write(
      header.bytes(before: [], .reversedWords), at: CommitLogFormat.firstBatch)
    #expect(Log.error { _ = try Log.read(other) }?.message.contains("kind 9") == true)
  }

  @Test("A log truncated below its first size is damaged, at any length")
  func cutOff() throws {
    var (storage, writer) = try Log.make()
    try Log.append([[1]], to: &writer)
    for size in stride(from: CommitLogFormat.slotSize + 1, to: Log.growth, by: 97) {
      let short = try TestLog(Array(storage.content.prefix(size)))
      #expect(Log.error { _ = try Log.read(short) }?.code == .damaged, "\(size)")
    }
  }

  @Test("A grown log truncated at any length is damaged, also in its last batch")
  func cutOffAfterGrowth() throws {
    var (storage, writer) = try Log.make()
    try Log.append(payloads, to: &writer)
    try Log.append(payloads, to: &writer)
    let size = try storage.file.size()
    #expect(size == 2 * Log.growth)
    for size in stride(from: CommitLogFormat.firstBatch, to: size, by: 61) {
      let short = try TestLog(Array(storage.content.prefix(size)))
      #expect(Log.error { _ = try Log.read(short) }?.code == .damaged, "\(size)")
    }
  }

  @Test("After a clean end a changed last batch is damage, not a torn tail")
  func notedEnd() throws {
    var (storage, writer) = try Log.make()
    try Log.append(payloads, to: &writer)
    let last = writer.offset - 40
    try writer.noteClosing()
    #expect(try Log.read(storage).0 == payloads)
    for offset in last..<writer.offset - 7 {
      let spoilt = try TestLog(storage.content)
      try Log.flip(spoilt, at: offset)
      #expect(Log.error { _ = try Log.read(spoilt) }?.code == .damaged, "byte \(offset - last)")
    }
    // And one header may be lost without harm to what is saved.
    for slot in [0, CommitLogFormat.slotSize] {
      let spoilt = try TestLog(storage.content)
      try Log.flip(spoilt, at: slot + 20)
      #expect(try Log.read(spoilt).0 == payloads)
    }
  }

  @Test("The log grows with appended batches, and shrinks when it is emptied")
  func size() throws {
    var (storage, writer) = try Log.make()
    let large = [UInt8](repeating: 1, count: 3 << 20)
    for _ in 0..<3 { try writer.append(.changes, [large]) }
    #expect(try storage.file.size() > 9 << 20)
    #expect(try storage.file.size() % Log.growth == 0)
    try writer.removeAll()
    #expect(try storage.file.size() == CommitLogWriter.sizeKept)
    try writer.append(.changes, [[1]])
    #expect(try Log.read(storage).0 == [[1]])
  }
}

extension DataBuffer {
  /// A valid header of format 6.
  fileprivate mutating func write(later magic: [UInt8]) -> DataBuffer {
    var buffer = DataBuffer(magic)
    buffer.write(UInt32(6))
    buffer.write(UInt32(0))
    for number in [5, 0, 0] as [UInt64] { buffer.write(number) }
    buffer.write(CommitLogFormat.checksum(buffer.bytes))
    return buffer
  }
}
