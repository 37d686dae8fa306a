import Files
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

/// Keys that closing leaves in the log, because their file is larger than they are.
@Suite("Folding after an opening", .timeLimit(.minutes(2)))
struct FoldingAfterOpeningTests {
  private static let name = OrderedTableName("Words", kind: .data)
  /// More than closing always copies.
  private static let fileSize = 17 << 20

  private func limits(logBytes: Int) -> CheckpointLimits {
    var limits = CheckpointLimits(logBytes: logBytes)
    limits.logGrowth = 8 << 10
    return limits
  }

  /// Saves a large table, which skips the log, and then the given number of keys.
  private func prepare(_ kind: TestedBackend, _ directory: String, _ count: Int) throws {
    let backend = try kind.open(directory, limits: limits(logBytes: 8 << 20))
    let table = try backend.orderedTable(Self.name)
    var changes = ChangeSet()
    let value = [UInt8](repeating: 7, count: Self.fileSize / 17)
    for key in 0..<UInt8(17) { changes.set([key], to: value, in: table) }
    try backend.commit(changes)
    for number in 0..<count {
      var changes = ChangeSet()
      changes.set([20, UInt8(number)], to: [UInt8](repeating: 1, count: 1000), in: table)
      try backend.commit(changes)
    }
    try backend.close()
  }

  private func keyCount(_ backend: any DirectoryBackend) throws -> Int {
    try backend.keyCount(in: backend.orderedTable(Self.name), KeyRange())
  }

  /// The number of keys in the file alone.
  private func keysInFile(_ directory: String) throws -> Int {
    try OrderedFile(
      MappedFile(FileLocation("\(directory)/\(Self.name.fileName)")), codec: nil
    ).count
  }

  @Test("A short log stays as it is", arguments: [TestedBackend.tokyoCabinet, .cdb])
  func short(_ kind: TestedBackend) throws {
    try FoldingFixture.withStore { directory in
      try prepare(kind, directory, 20)
      #expect(try keysInFile(directory) == 17)
      let backend = try kind.open(directory, limits: limits(logBytes: 8 << 20))
      #expect(try #require(backend as? any FoldingBeside).isFolding == false)
      #expect(try keyCount(backend) == 37)
      try backend.close()
      #expect(try keysInFile(directory) == 17)
    }
  }

  @Test(
    "A long log is folded, so that the next opening need not read it",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func long(_ kind: TestedBackend) throws {
    try FoldingFixture.withStore { directory in
      try prepare(kind, directory, 60)
      let backend = try kind.open(directory, limits: limits(logBytes: 50_000))
      #expect(try keyCount(backend) == 77)
      var changes = ChangeSet()
      changes.set([21], to: [1], in: try backend.orderedTable(Self.name))
      try backend.commit(changes)
      try #require(backend as? any FoldingBeside).endFolding()
      #expect(try keysInFile(directory) == 77)
      #expect(try keyCount(backend) == 78)
      try backend.close()
      let again = try kind.open(directory, readOnly: true)
      #expect(try keyCount(again) == 78)
      try again.close()
      #expect(try FoldingFixture.damage(kind, directory).isEmpty)
    }
  }

  @Test("A reader of a long log folds nothing")
  func reader() throws {
    try FoldingFixture.withStore { directory in
      try prepare(.tokyoCabinet, directory, 60)
      let before = try FoldingFixture.entries(of: directory).sorted()
      let backend = try TestedBackend.tokyoCabinet.open(
        directory, readOnly: true, limits: limits(logBytes: 50_000))
      #expect(try keyCount(backend) == 77)
      try backend.close()
      #expect(try FoldingFixture.entries(of: directory).sorted() == before)
      #expect(try keysInFile(directory) == 17)
    }
  }

  @Test("A process that dies while it folds after an opening loses nothing")
  func killed() throws {
    try FoldingFixture.withStore { directory in
      try prepare(.tokyoCabinet, directory, 60)
      var held = limits(logBytes: 50_000)
      held.foldsOnThread = false
      let backend = try TestedBackend.tokyoCabinet.open(directory, limits: held)
      #expect(try #require(backend as? any FoldingBeside).isFolding)
      let copy = try FoldingFixture.copy(directory)
      try backend.close()
      let restored = try TestedBackend.tokyoCabinet.open(copy, limits: limits(logBytes: 50_000))
      #expect(try keyCount(restored) == 77)
      try restored.close()
      #expect(try keysInFile(copy) == 77)
    }
  }

  // MARK: Logs without saves

  /// Leaves two logs, as a power cut does that takes the save in the first one.
  private func leaveLostLog(
    _ kind: TestedBackend, _ directory: String, _ session: ScriptedSession, savesAfterIt: Int
  ) throws -> String {
    let backend = try kind.open(directory, durability: .none, limits: FoldingFixture.limits)
    try FoldingFixture.save(session, 0..<1, thenFoldingBeside: 1..<1 + savesAfterIt, on: backend)
    let left = try FoldingFixture.copy(directory)
    try backend.close()
    let name = try #require(try FoldingFixture.earlierLogs(in: left).first)
    let log = try StoreFile(FileLocation(left + "/" + name), writable: true)
    let first = CommitLogFormat.firstBatch
    try log.write([UInt8](repeating: 0, count: log.size() - first), at: first)
    return left
  }

  @Test(
    "Logs whose saves a power cut has taken are not folded, and later saves are safe",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func lost(_ kind: TestedBackend) throws {
    let session = ScriptedSession(seed: 3, saveCount: 4)
    try FoldingFixture.withStore { directory in
      let left = try leaveLostLog(kind, directory, session, savesAfterIt: 1)
      var limits = FoldingFixture.limits
      limits.logBytes = 400
      let backend = try kind.open(left, durability: .none, limits: limits)
      #expect(try StoreImage(of: backend) == session.images[0])
      let folding = try #require(backend as? any FoldingBeside)
      #expect(!folding.isFolding)
      for save in session.saves.prefix(2) {
        try save.commit(to: backend)
        try folding.endFolding()
      }
      let copy = try FoldingFixture.copy(left)
      try backend.close()
      let again = try kind.open(copy)
      #expect(try StoreImage(of: again) == session.images[2])
      #expect(again.lastCommitNumber == 2)
      try again.close()
      #expect(try FoldingFixture.damage(kind, copy).isEmpty)
    }
  }

  @Test(
    "The checkpoint of logs without saves, which earlier versions wrote, is read",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func nothing(_ kind: TestedBackend) throws {
    let session = ScriptedSession(seed: 3, saveCount: 4)
    try FoldingFixture.withStore { directory in
      let left = try leaveLostLog(kind, directory, session, savesAfterIt: 0)
      let log = try StoreFile(FileLocation(left + "/" + StoreDirectory.log), writable: true)
      let reader = try #require(try CommitLogReader(log))
      var writer = try CommitLogWriter(
        log, durability: .none, slot: reader.slot, slotIndex: reader.slotIndex, sequence: 0,
        offset: CommitLogFormat.firstBatch, growth: LogGrowth())
      try writer.append(.earlierCheckpoint, [[0, 0, 0, 0]])
      #expect(try FoldingFixture.damage(kind, left).isEmpty)
      var backend = try kind.open(left)
      #expect(try StoreImage(of: backend) == session.images[0])
      try session.saves[0].commit(to: backend)
      try backend.close()
      backend = try kind.open(left)
      #expect(try StoreImage(of: backend) == session.images[1])
      #expect(backend.lastCommitNumber == 1)
      try backend.close()
    }
  }
}
