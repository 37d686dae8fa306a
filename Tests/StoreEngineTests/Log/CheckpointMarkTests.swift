import CDBBackend
import Files
import Foundation
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

@Suite("Marks of files in checkpoints of the log")
struct CheckpointMarkTests {
  /// A disk on which a checkpoint was recorded, and its files were not put in place.
  private func interrupted() throws -> CrashingDirectory {
    let disk = try CrashingDirectory()
    let backend = try CDBBackend(disk)
    let table = try backend.table(named: "A")
    try backend.commit { $0.insert(2, in: table, [1]) }
    try backend.checkpoint()
    try backend.commit { $0.update(2, in: table, [2]) }
    // The power is cut right after the class file is renamed.
    disk.observeRenames { [unowned disk] in if $0 == "A.cdb" { disk.plan(.cutPower(at: 0)) } }
    #expect(throws: (any Error).self) { try backend.checkpoint() }
    disk.observeRenames(nil)
    disk.plan(.none)
    return disk
  }

  private func record(_ disk: CrashingDirectory) throws -> [UInt8]? {
    let backend = try CDBBackend(disk)
    defer { try? backend.close() }
    return try backend.record(2, in: backend.table(named: "A"))
  }

  /// Makes a file of the same class with the mark of another checkpoint.
  private func putOtherFile(_ name: String, on disk: CrashingDirectory) throws {
    let other = try CrashingDirectory()
    let backend = try CDBBackend(other)
    try backend.commit { $0.insert(2, in: try backend.table(named: "A"), [3]) }
    try backend.checkpoint()
    try backend.close()
    try copyFile(other.file("A.cdb"), to: disk.file(name))
  }

  private func code(_ disk: CrashingDirectory) -> StoreError.Code? {
    LogFixture.error { _ = try record(disk) }?.code
  }

  @Test("The new file counts under its final name before the manifest has it")
  func renamed() throws {
    let disk = try interrupted()
    #expect(try record(disk) == [2])
    #expect(try record(disk) == [2])
  }

  @Test("The new file counts under its first name, and is renamed")
  func notRenamed() throws {
    let disk = try interrupted()
    try renameFile(disk.file("A.cdb"), disk.file(".new.0"))
    #expect(try record(disk) == [2])
    #expect(disk.names.contains("A.cdb") && !disk.names.contains(".new.0"))
  }

  @Test("A file that is neither is damage, not an empty table or an older state")
  func neither() throws {
    let disk = try interrupted()
    try removeFile(disk.file("A.cdb"))
    #expect(code(disk) == .damaged)
    try putOtherFile("A.cdb", on: disk)
    #expect(code(disk) == .damaged)
    // Nor is a new file that some later checkpoint has begun.
    try renameFile(disk.file("A.cdb"), disk.file(".new.0"))
    #expect(code(disk) == .damaged)
  }

  @Test("A file in place counts, whatever a later checkpoint has begun under the new name")
  func stray() throws {
    let disk = try interrupted()
    try putOtherFile(".new.0", on: disk)
    #expect(try record(disk) == [2])
    #expect(!disk.names.contains(".new.0"))
  }

  @Test("Names and marks read back, and so do names from before there were marks")
  func encoding() throws {
    let mark = FileMark(epoch: 3, number: 4)
    let replacements = [
      Replacement(newName: ".new.0", name: "A", mark: mark),
      Replacement(newName: ".new.1", name: "B"),
    ]
    let bytes = Replacement.encode(replacements)
    #expect(try Replacement.decode(bytes, .checkpoint) == replacements)
    let names = Array(bytes.dropLast(2 * FileMark.byteCount))
    #expect(try Replacement.decode(names, .checkpoint).map(\.mark) == [nil, nil])
    for count in names.count + 1..<bytes.count {
      #expect(throws: StoreError.self) {
        try Replacement.decode(Array(bytes[..<count]), .checkpoint)
      }
    }
  }

  @Test("The manifest of the documentation has these bytes")
  func example() {
    var manifest = StoreManifest(firstEpoch: 1)
    manifest.add(
      [Replacement(newName: "", name: "A", mark: FileMark(epoch: 1, number: 0xCAFE))],
      followedBy: 2)
    manifest.lastCommit = .example
    let bytes: [UInt8] = [
      0x53, 0x4F, 0x2D, 0x46, 0x69, 0x6C, 0x65, 0x73, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
      2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0,
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x40, 0x42, 0x0F, 0, 0, 0, 0, 0,
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0,
      1, 0, 0, 0, 1, 0, 0, 0, 0x41, 1, 0, 0, 0, 0, 0, 0, 0,
      0xFE, 0xCA, 0, 0, 0xC9, 0x57, 0xFD, 0x12,
    ]
    #expect(manifest.bytes == bytes)
  }

  @Test("A manifest from before commit numbers is read")
  func secondVersion() {
    let bytes: [UInt8] = [
      0x53, 0x4F, 0x2D, 0x46, 0x69, 0x6C, 0x65, 0x73, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
      2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0x41, 1, 0, 0, 0, 0, 0, 0, 0,
      0xFE, 0xCA, 0, 0, 0xC4, 0x8F, 0x7D, 0xF9,
    ]
    var manifest = StoreManifest(firstEpoch: 1)
    manifest.add(
      [Replacement(newName: "", name: "A", mark: FileMark(epoch: 1, number: 0xCAFE))],
      followedBy: 2)
    #expect(StoreManifest(bytes) == manifest)
  }

  @Test("A manifest reads back, and a change of any byte is detected")
  func manifest() throws {
    var manifest = StoreManifest(firstEpoch: 5, epoch: 6, files: ["B"])
    manifest.add("A", FileMark(epoch: 5, number: 9))
    #expect(StoreManifest(manifest.bytes) == manifest)
    manifest.lastCommit = .example
    #expect(StoreManifest(manifest.bytes) == manifest)
    for offset in manifest.bytes.indices {
      var bytes = manifest.bytes
      bytes[offset] ^= 1
      #expect(StoreManifest(bytes) == nil, "\(offset)")
    }
    var first = DataBuffer(Array("SO-Files".utf8))
    first.write(UInt32(1))
    first.write(UInt64(5))
    first.writeCount(1)
    first.write("B")
    first.write(CommitLogFormat.checksum(first.bytes))
    #expect(StoreManifest(first.bytes) == StoreManifest(firstEpoch: 5, files: ["B"]))
  }
}
