import Files
import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoreEngine

@Suite("The commit log on a failing disk")
struct CommitLogFailureTests {
  typealias Log = LogFixture

  @Test("A batch that could not be written is not in the log, and the next one takes its place")
  func failedWrite() throws {
    // The room, the header that tells of it, and the batch; the sync between them is another
    // matter.
    for number in [0, 2, 3] {
      var (storage, writer) = try Log.make()
      try writer.append(.changes, [[1]])
      storage.disk.plan(.fail(at: number, errno: 28))
      // Longer than the log, so that it has to grow first.
      #expect(throws: StoreError.self) {
        try writer.append(.changes, [[UInt8](repeating: 2, count: 9000)])
      }
      #expect(!writer.hasFailed)
      storage.disk.plan(.none)
      #expect(try Log.read(storage).0 == [[1]])
      try writer.append(.changes, [[3]])
      #expect(try Log.read(storage).0 == [[1], [3]])
    }
  }

  @Test("After a failed sync all calls throw reopenNeeded")
  func failedSync() throws {
    var (storage, writer) = try Log.make()
    storage.disk.plan(.fail(at: 1, errno: 5))
    #expect(throws: StoreError.self) { try writer.append(.changes, [[1]]) }
    #expect(storage.disk.operations == [.write, .syncData])
    #expect(writer.hasFailed)
    #expect(Log.error { try writer.append(.changes, [[2]]) }?.code == .reopenNeeded)
    #expect(Log.error { try writer.removeAll() }?.code == .reopenNeeded)
    #expect(storage.disk.operations.count == 2)
  }

  @Test("A log that could not be emptied can't be used, at each step of it")
  func failedEmptying() throws {
    for number in 0..<2 {
      var (storage, writer) = try Log.make()
      try writer.append(.changes, [[1]])
      storage.disk.plan(.fail(at: number, errno: 5))
      #expect(throws: StoreError.self) { try writer.removeAll() }
      #expect(Log.error { try writer.append(.changes, [[2]]) }?.code == .reopenNeeded)
    }
  }

  @Test("Batches that a failed sync has left in memory only are written again by the next opening")
  func settle() throws {
    var generator = Seeds.generator(for: "settling")
    var (storage, writer) = try Log.make()
    storage.disk.plan(.fail(at: 1, errno: 5))
    #expect(throws: StoreError.self) { try writer.append(.changes, [[1]]) }
    storage.disk.plan(.none)
    // Programs see the batch; the disk has lost it, and a sync alone would not bring it there.
    #expect(try Log.read(storage).0 == [[1]])
    try storage.file.synchronize()
    #expect(try Log.read(storage.afterPowerCut(using: &generator)).0 == [])

    let next = try Log.writer(
      storage, .full, epoch: 1, sequence: 1, offset: CommitLogFormat.firstBatch + 40)
    try next.settle()
    #expect(try Log.read(storage.afterPowerCut(using: &generator)).0 == [[1]])
  }
}

@Suite("CRC-32C")
struct CRC32CTests {
  @Test("The checksum of a known text")
  func known() {
    #expect(CommitLogFormat.checksum(Array("123456789".utf8)) == 0xE306_9283)
    #expect(CommitLogFormat.checksum([]) == 0)
  }

  @Test("Random bytes in random pieces match a bitwise computation")
  func random() {
    var generator = Seeds.generator(for: "CRC-32C")
    for step in 0..<200 {
      // From 192 bytes on the bytes are taken in three parts, and from 768 on in larger ones.
      let count = Int.random(in: 0..<(step % 2 == 0 ? 100 : 3000), using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      var slow: UInt32 = 0xFFFF_FFFF
      for byte in bytes {
        slow ^= UInt32(byte)
        for _ in 0..<8 { slow = slow & 1 == 1 ? slow >> 1 ^ 0x82F6_3B78 : slow >> 1 }
      }
      var fast = CRC32C()
      let middle = Int.random(in: 0...count, using: &generator)
      fast.update(Array(bytes[..<middle]).span)
      fast.update(Array(bytes[middle...]).span)
      #expect(fast.value == ~slow)
      var byTables = CRC32C()
      byTables.updateByTables(Array(bytes[..<middle]).span)
      byTables.update(Array(bytes[middle...]).span)
      #expect(byTables.value == ~slow)
    }
  }

  @Test("The checksum of a batch covers its bytes, the last of each eight first, in any pieces")
  func reversedWords() {
    var generator = Seeds.generator(for: "CRC-32C of reversed words")
    for step in 0..<200 {
      let most = step % 2 == 0 ? 100 : 3000
      let bytes = Self.bytes(Int.random(in: 0..<most, using: &generator), &generator)
      var turned: [UInt8] = []
      for start in stride(from: 0, to: bytes.count, by: 8) {
        let word = bytes[start...].prefix(8)
        turned += ([UInt8](word) + [UInt8](repeating: 0, count: 8 - word.count)).reversed()
      }
      var checksum = BatchChecksum(.reversedWords)
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 0...20, using: &generator))
        checksum.update(Array(piece).span)
        rest = rest.dropFirst(piece.count)
      }
      #expect(checksum.value() == CommitLogFormat.checksum(turned))
      var byTables = CRC32C()
      byTables.updateByTablesReversingWords(turned.span)
      var byInstruction = CRC32C()
      byInstruction.updateReversingWords(turned.span)
      #expect(byTables.value == byInstruction.value)
    }
  }

  @Test("A record with a checksum of its own is distinguished from another of the same length")
  func recordsInBatches() {
    var generator = Seeds.generator(for: "CRC-32C of CRC-32C")
    func record(_ count: Int) -> [UInt8] {
      var buffer = DataBuffer(Self.bytes(count, &generator))
      buffer.write(CommitLogFormat.checksum(buffer.bytes))
      return buffer.bytes
    }
    func sum(_ bytes: [UInt8], _ order: BatchChecksum.Order) -> UInt32 {
      var checksum = BatchChecksum(order)
      checksum.update(bytes.span)
      return checksum.value()
    }
    for count in 1..<400 {
      let before = Self.bytes(Int.random(in: 0..<40, using: &generator), &generator)
      let after = Self.bytes(Int.random(in: 0..<40, using: &generator), &generator)
      let (new, old) = (before + record(count) + after, before + record(count) + after)
      guard new != old else { continue }
      // This is why batches have had another checksum since version 4.
      #expect(sum(new, .plain) == sum(old, .plain))
      #expect(sum(new, .reversedWords) != sum(old, .reversedWords))
    }
  }

  private static func bytes(
    _ count: Int, _ generator: inout some RandomNumberGenerator
  ) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}
