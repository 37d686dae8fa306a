import CDBBackend
import Files
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

@Suite("Sealing")
struct SealingTests {
  private func open(
    _ disk: CrashingDirectory, _ key: TestKey? = TestKey()
  ) throws -> CDBBackend {
    try CDBBackend(disk, key: key)
  }

  private func fill(_ disk: CrashingDirectory) throws {
    let backend = try open(disk)
    let songs = try backend.table(named: "Song")
    try backend.commit {
      $0.insert(1, in: songs, [1, 2, 3])
      $0.insert(2, in: songs, [4])
      $0.set("Favorite", [5])
    }
    try backend.close()
  }

  @Test("An encrypted store needs its key")
  func keys() throws {
    let disk = try CrashingDirectory()
    try fill(disk)
    #expect(throws: StoreError.self) { try open(disk, nil) }
    for (key, code) in [(nil, .encrypted), (TestKey(2), .wrongKey)]
      as [(TestKey?, StoreError.Code)]
    {
      let error = #expect(throws: StoreError.self) { try open(disk, key) }
      #expect(error?.code == code)
      #expect(error?.location.path != nil)
    }
    let backend = try open(disk)
    #expect(try backend.tableNames() == ["Song"])
    #expect(try backend.bufferNames() == ["Favorite"])
  }

  @Test("A store without encryption refuses a key, and is not changed")
  func notEncrypted() throws {
    let disk = try CrashingDirectory()
    let plain = try open(disk, nil)
    try plain.commit { $0.set("Favorite", [5]) }
    try plain.close()
    let error = #expect(throws: StoreError.self) { try open(disk) }
    #expect(error?.code == .notEncrypted)
    #expect(!disk.names.contains("Commit.key"))
    #expect(try open(disk, nil).bufferNames() == ["Favorite"])
  }

  @Test("A store with a lost key file does not look like a new one")
  func lostKeyFile() throws {
    let disk = try CrashingDirectory()
    try fill(disk)
    try renameFile(disk.file("Commit.key"), disk.file(".lost"))
    #expect(throws: StoreError.self) { try open(disk) }
    #expect(!disk.names.contains("Commit.key"))
  }

  @Test(
    "A changed key opens the store, the old one does not, and after a power cut one of them does")
  func changedKey() throws {
    var generator = Seeds.generator(for: "a changed key")
    var cut = 0
    var isDone = false
    while !isDone {
      cut += 1
      let disk = try CrashingDirectory()
      try fill(disk)
      disk.plan(.cutPower(at: cut))
      do {
        let files = try CDBFiles(disk)
        defer { files.close() }
        try Sealing.changeKey(of: files, from: TestKey(1), to: TestKey(2))
        isDone = true
      } catch {}
      disk.plan(.cutPower(at: 0))
      let rebooted = try disk.afterPowerCut(using: &generator)
      let old = try? open(rebooted, TestKey(1))
      try old?.close()
      let new = try? open(rebooted, TestKey(2))
      #expect((old == nil) != (new == nil), "cut at \(cut)")
      if isDone { #expect(new != nil, "cut at \(cut)") }
    }
    #expect(cut > 5)
  }

  @Test("Errors name the class and the row of a record that was moved")
  func movedRecord() throws {
    let disk = try CrashingDirectory()
    try fill(disk)
    let files = try CDBFiles(disk)
    let sealed = try #require(try files.tableNames().first)
    let table = try files.table(named: sealed)
    var record: [UInt8] = []
    #expect(try files.copyRecord(2, in: table, to: &record))
    let changes = ChangeSet(
      bytes: record,
      tables: [
        .init(table: table, records: [.init(kind: .update, rowID: 1, range: 0..<record.count)])
      ])
    try files.publish(
      try files.prepare(
        changes, mark: try files.mark(of: sealed) ?? FileMark(epoch: 1, number: 1),
        durability: .none))
    files.close()
    let backend = try open(disk)
    let songs = try backend.table(named: "Song")
    let error = #expect(throws: StoreError.self) { try backend.record(1, in: songs) }
    #expect(error?.code == .notAuthentic)
    #expect(error?.location.className == "Song")
    #expect(error?.location.rowID == 1)
    #expect(try backend.record(2, in: songs) == [4])
  }

  @Test("Names of any length read back")
  func names() throws {
    let sealing = Sealing(TestSeal(store: 7))
    for count in 1...SealedName.maximumByteCount {
      let name = String(repeating: "n", count: count)
      let sealed = try sealing.fileName(ofTable: name)
      #expect(sealing.name(sealed) == name)
      #expect(sealed.utf8.count <= StoreDirectory.maximumNameByteCount)
    }
    for name in ["Für Elise", "nul\0", "a\u{80}", "日本語", "end\u{0}\u{0}"] {
      #expect(sealing.name(try sealing.key(ofBuffer: name)) == name)
    }
    let tooLong = String(repeating: "n", count: SealedName.maximumByteCount + 1)
    #expect(throws: StoreError.self) { try sealing.fileName(ofTable: tooLong) }
    #expect(throws: StoreError.self) { try sealing.fileName(ofTable: "a/b") }
    #expect(sealing.name("Song") == nil)
  }

  @Test("One damaged copy of a part of a key file does no harm, and a check reports it")
  func keyFileCopies() throws {
    let bytes = KeyFile.bytes([1, 2, 3])
    #expect(KeyFile.isSound(bytes))
    for offset in [0, 9, 13, 17, 20, 4000, 4096, 4105, 4109, 8191] {
      var spoilt = bytes
      spoilt[offset] ^= 1
      #expect(try KeyFile.content(spoilt, path: "") == [1, 2, 3])
      #expect(!KeyFile.isSound(spoilt))
    }
    #expect(throws: StoreError.self) { try KeyFile.content(Array(bytes[..<10]), path: "") }
  }
}
