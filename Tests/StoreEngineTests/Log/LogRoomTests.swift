import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoreEngine

@Suite("Unused bytes of a log")
struct LogRoomTests {
  typealias Log = LogFixture

  /// A log that has been full once, was emptied, and closed with some saves in it.
  private func makeClosed() throws -> TestLog {
    var (storage, writer) = try Log.make()
    for _ in 0..<3 { try Log.append([Array(repeating: 7, count: 1001)], to: &writer) }
    try writer.removeAll()
    // Of sizes that leave a gap before the next.
    try Log.append([[1], [2, 3, 4], Array(repeating: 5, count: 701)], to: &writer)
    try writer.noteClosing()
    return storage
  }

  /// Goes on with a log that was closed.
  private func reopened(_ storage: TestLog) throws -> CommitLogWriter {
    var reader = try #require(try Log.reader(storage))
    while try reader.next() != nil {}
    return try CommitLogWriter(
      storage.file, durability: .full, slot: reader.slot, slotIndex: reader.slotIndex,
      sequence: reader.sequence, offset: reader.offset, growth: LogGrowth(Log.growth))
  }

  /// The findings of a check of a log.
  private func isTold(_ storage: TestLog) -> Bool {
    guard let scan = try? CommitLogScan(storage.file) else { return true }
    return scan.tornByteCount != nil
      || !(scan.findings(path: "") + scan.roomFindings(path: "")).isEmpty
  }

  @Test("Closing writes zeros over earlier saves, and between the current ones")
  func zeros() throws {
    let storage = try makeClosed()
    var reader = try #require(try Log.reader(storage))
    while try reader.next() != nil {}
    #expect(reader.isClosed)
    let room = try storage.content[reader.offset...]
    #expect(room.count > 3000 && room.allSatisfy { $0 == 0 })
    #expect(!isTold(storage))
  }

  @Test("A change of each byte of a closed log is reported")
  func everyByte() throws {
    let storage = try makeClosed()
    for offset in try storage.content.indices where offset < 5000 || offset % 7 == 0 {
      #expect(try storage.spoiling(offset, isTold), "\(offset)")
    }
    #expect(!isTold(storage))
  }

  @Test("Rewriting repairs the unused bytes")
  func renewed() throws {
    let storage = try makeClosed()
    let saves = try Log.read(storage).0
    for offset in [20, 60, 512 + 20, 700, 3000, try storage.file.size() - 1] {
      let spoilt = try TestLog(storage.content)
      try Log.flip(spoilt, at: offset)
      var writer = try reopened(spoilt)
      try writer.renewRoom()
      try writer.noteClosing()
      #expect(!isTold(spoilt), "\(offset)")
      #expect(try Log.read(spoilt).0 == saves)
    }
  }

  @Test("After any power cut in a session the log is sound, except for its last save")
  func powerCuts() throws {
    let closed = try makeClosed()
    let saves = try Log.read(closed).0
    let more: [[UInt8]] = [Array(repeating: 9, count: 1500), [8]]
    var generator = Seeds.generator(for: "a session behind a log that was closed")
    for cut in 0..<24 {
      for _ in 0..<10 {
        let storage = try TestLog(closed.content)
        storage.disk.plan(.cutPower(at: cut))
        do {
          var writer = try reopened(storage)
          try Log.append(more, to: &writer)
          try writer.noteClosing()
          try writer.removeAll()
          try writer.noteClosing()
        } catch {}
        storage.disk.plan(.none)
        let left = try storage.afterPowerCut(using: &generator)
        let scan = try CommitLogScan(left.file)
        #expect(scan.findings(path: "").isEmpty && scan.roomFindings(path: "").isEmpty)
        let found = try Log.read(left).0
        #expect(found.isEmpty || found.starts(with: saves))
        var writer = try reopened(left)
        try writer.clearTail()
        try Log.append([[1]], to: &writer)
        try writer.noteClosing()
        #expect(!isTold(left))
      }
    }
  }
}
