import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinetFile

@testable import TokyoCabinetBackend

/// `./dev crash flip --backend tokyo-cabinet-encrypted`, and the same on CDB, tries every byte of
/// small stores; here is what these do not have.
@Suite("Every byte of a closed encrypted store")
struct EveryByteTests {
  private func flip(_ offset: Int, _ path: String) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([byte ^ 0x10]))
  }

  /// Makes a class file that the C library has changed, so that it has gaps and a list of them.
  private func makeGaps(_ path: String) throws -> String {
    let backend = try StoreFormat.tokyoCabinet.open(path)
    let table = try backend.table(named: "SecretDiary")
    var metadata = DataBuffer()
    ClassMetadata(lastRowID: 400, classVersion: 0, classID: 0, salt: .init(1, 2), flags: nil)
      .write(to: &metadata)
    try backend.commit { changes in
      changes.insert(1, in: table, metadata.bytes)
      for row in UInt32(2)...400 { changes.insert(row, in: table, Array("row \(row)".utf8)) }
    }
    try EncryptedStore.fold(backend)
    try backend.commit { changes in
      for row in UInt32(20)..<25 { changes.delete(row, in: table) }
      changes.update(40, in: table, [UInt8](repeating: 7, count: 200))
    }
    try EncryptedStore.fold(backend)
    try backend.close()
    return path + "/" + (try SealedFiles(.tokyoCabinet, path).sealedName(of: "SecretDiary"))
  }

  @Test("Gaps between records, their list, and the unused fields of the header are compared")
  func gaps() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      let file = try makeGaps(path)
      let hashFile = try HashFile(file)
      let gap = try #require(try hashFile.freeBlocks().first { $0.size > 40 })
      #expect(try !hashFile.freeBlockPool().isEmpty)
      #expect(try StoreFormat.tokyoCabinet.check(path).findings == [])
      let pool = HashFileHeader.size + 4 * Int(hashFile.header.bucketCount)
      let offsets =
        Array(stride(from: 0, to: HashFileHeader.size, by: 3)) + Array(pool..<pool + 80)
        + Array(gap.offset..<gap.offset + gap.size) + [hashFile.fileSize - 1]
      for offset in offsets {
        try flip(offset, file)
        #expect((try? StoreFormat.tokyoCabinet.check(path).isSound) != true, "\(offset)")
        try flip(offset, file)
      }
      #expect(try StoreFormat.tokyoCabinet.check(path).findings == [])
      for tail in [[0], [UInt8](repeating: 0, count: 64)] as [[UInt8]] {
        let content = try Data(contentsOf: URL(fileURLWithPath: file))
        try (content + tail).write(to: URL(fileURLWithPath: file))
        #expect(try !StoreFormat.tokyoCabinet.check(path).isSound)
        try content.write(to: URL(fileURLWithPath: file))
      }
    }
  }

  @Test("A salvage, a compaction and a backup leave files whose bytes are all compared")
  func stamps() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      _ = try makeGaps(path)
      let backend = try #require(
        try StoreFormat.tokyoCabinet.open(path) as? TokyoCabinetBackend)
      #expect(try backend.compact() > 0)
      try backend.backup(to: directory + "/Backup")
      try backend.close()
      _ = try StoreFormat.tokyoCabinet.salvage(path, to: directory + "/Salvaged")
      for name in ["/Store", "/Backup", "/Salvaged"] {
        let path = directory + name
        let before = try StoreFormat.tokyoCabinet.check(path).findings
        #expect(before == [])
        let file = try SealedFiles(.tokyoCabinet, path).sealedName(of: "SecretDiary")
        try flip(200, path + "/" + file)
        let findings = try StoreFormat.tokyoCabinet.check(path).findings
        #expect(findings.map(\.kind) == [.fileDamaged])
      }
    }
  }

  @Test("Other programs may change a store without encryption in place")
  func noStamp() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      _ = try makeGaps(path)
      try TokyoCabinetBackend.decrypt(directory: path, key: testKey)
      let header = try Data(contentsOf: URL(fileURLWithPath: path + "/SecretDiary")).prefix(256)
      // The checksum of the whole file would be here; the mark behind it covers no bytes.
      #expect(header[128..<140].allSatisfy { $0 == 0 })
    }
  }

  @Test(
    "A changed unused byte of the log is reported, and compact() clears it",
    arguments: StoreFormat.allCases)
  func room(_ kind: StoreFormat) throws {
    try EncryptedStore.use(kind) { _, path in
      try kind.open(path).close()
      for offset in [40, 100, 512 + 40, 700, 1024, 4095, 4096, 4200, 30_000] {
        #expect(try kind.check(path).findings == [])
        #expect(try kind.check(path).tornTailByteCount == nil)
        try flip(offset, path + "/Commit.log")
        let check = try kind.check(path)
        #expect(!check.isSound || check.tornTailByteCount != nil, "\(offset)")
        try EncryptedStore.expectAll(kind, path)
        let backend = try kind.open(path)
        _ = try (backend as? any FoldingBackend)?.compact { _ in }
        try backend.close()
      }
    }
  }

  @Test(
    "Records and buffers in files that the log has replaced are compared, too",
    arguments: StoreFormat.allCases)
  func replaced(_ kind: StoreFormat) throws {
    try EncryptedStore.use(kind) { directory, path in
      let backend = try kind.open(path)
      try EncryptedStore.fold(backend)
      let store = Store(backend: backend)
      try store.register(Diary.self, Doctor.self)
      let diaries = try store.allObjects(of: Diary.self)
      diaries[1].text = "another"
      store.delete(diaries[2])
      try store.removeBuffer(named: EncryptedStore.bufferName)
      try store.saveChanges()
      let copy = directory + "/Copy"
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      try backend.close()
      #expect(try kind.check(copy).findings == [])

      let files = SealedFiles(kind, copy)
      for row in [3, 4] as [UInt32] {
        try files.copyRecord(fromRow: 2, to: row, inTableOf: "SecretDiary")
      }
      let buffer = try #require(try files.buffers().first)
      try files.setBuffer(buffer.key, buffer.bytes.reversed())
      let findings = try kind.check(copy).findings
      #expect(findings.map(\.kind) == [.notAuthentic, .notAuthentic, .notAuthentic])
      #expect(findings.map(\.location.rowID) == [3, 4, nil])
      #expect(findings.first?.location.className == "SecretDiary")
    }
  }
}
