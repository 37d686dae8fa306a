import Foundation
import StoredObjectsTestSupport
import TestedBackends
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore
@testable import TokyoCabinetBackend

@Suite("Backup and compact")
struct BackupTests {
  typealias Fixtures = TokyoFixtures

  private func contents(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  @Test("A backup has the records in files and in the log, and opens as a store")
  func backup() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let songs = try backend.table(named: "Song")
      try backend.commit { $0.insert(2, in: songs, [1]) }
      try backend.checkpoint()
      try backend.commit {
        $0.update(2, in: songs, [2])
        $0.insert(3, in: songs, [3])
        $0.set("x", [9])
      }
      try backend.backup(to: directory + ".copy")
      try backend.commit { $0.delete(2, in: songs) }
      let copy = try TokyoCabinetBackend(directory: directory + ".copy")
      let table = try copy.table(named: "Song")
      #expect(try copy.records(in: table) == [2: [2], 3: [3]])
      #expect(try copy.namedBuffer("x") == [9])
      try copy.commit { $0.insert(4, in: table, [4]) }
      #expect(try backend.records(in: songs) == [3: [3]])
      try copy.close()
      try backend.close()
    }
  }

  @Test("A backup taken during saves has one state: each save is complete or missing")
  func consistent() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(
        directory: directory, configuration: .init(durability: .none))
      let (left, right) = (try backend.table(named: "L"), try backend.table(named: "R"))
      let writer = Thread {
        for number in UInt32(2)..<400 {
          try? backend.commit {
            $0.insert(number, in: left, [1])
            $0.insert(number, in: right, [1])
          }
          if number % 50 == 0 { try? backend.checkpoint() }
        }
      }
      writer.start()
      for number in 0..<5 {
        try backend.backup(to: "\(directory).\(number)")
        let copy = try TokyoCabinetBackend(directory: "\(directory).\(number)")
        let counts = try ["L", "R"].map { try copy.recordCount(in: copy.table(named: $0)) }
        #expect(counts[0] == counts[1])
        try copy.close()
      }
      while !writer.isFinished { Thread.sleep(forTimeInterval: 0.01) }
      try backend.close()
    }
  }

  @Test("A target with content is refused, an empty one is used, and no temporary files stay")
  func targets() throws {
    try Fixtures.withBackend { backend, songs in
      try backend.commit { $0.insert(2, in: songs, [1]) }
      let parent = URL(fileURLWithPath: backend.location).deletingLastPathComponent().path
      let target = parent + "/copy"
      try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
      try backend.backup(to: target + "/")
      #expect(try contents(target) == ["Commit.log", "Commit.manifest"])
      let error = Fixtures.error { try backend.backup(to: target) }
      #expect(error?.code == .ioError && error?.message.contains("something in the target") == true)
      #expect(Fixtures.error { try backend.backup(to: backend.location) } != nil)
      #expect(try contents(parent) == ["copy", "store"])
    }
  }

  @Test("A backup that fails leaves nothing behind")
  func failure() throws {
    try Fixtures.withBackend { backend, songs in
      try backend.commit { $0.insert(2, in: songs, [1]) }
      let parent = URL(fileURLWithPath: backend.location).deletingLastPathComponent().path
      let file = parent + "/file"
      try Data([1]).write(to: URL(fileURLWithPath: file))
      #expect(Fixtures.error { try backend.backup(to: file + "/copy") }?.code == .ioError)
      try backend.close()
      #expect(Fixtures.error { try backend.backup(to: parent + "/late") }?.code == .closed)
      #expect(try contents(parent) == ["file", "store"])
    }
  }

  @Test("Compacting releases the space of deleted records, keeps the others, and reports the size")
  func compact() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let songs = try backend.table(named: "Song")
      let record = [UInt8](repeating: 7, count: 1000)
      try backend.commit { for row in UInt32(2)..<2002 { $0.insert(row, in: songs, record) } }
      try backend.checkpoint()
      // So few that they are made in a copy, and leave gaps there.
      try backend.commit { for row in UInt32(2)..<102 { $0.delete(row, in: songs) } }
      try backend.commit { $0.set("x", [1]) }
      try backend.checkpoint()
      let before = try backend.fileSize(of: "Song")
      let saved = try backend.compact()
      let after = try backend.fileSize(of: "Song")
      #expect(saved > 100_000 && before - after == saved)
      #expect(try backend.records(in: songs).count == 1900)
      #expect(try backend.record(102, in: songs) == record)
      #expect(try backend.compact() == 0)
      try backend.commit { $0.insert(2, in: songs, [1]) }
      try backend.close()
      #expect(try contents(directory) == ["Commit.log", "Commit.manifest", "NamedBuffers", "Song"])
      let check = try TokyoCabinetBackend.check(directory: directory)
      #expect(check.findings.map(\.kind) == [.metadataMissing])
    }
  }

  @Test("A scan that began before a compaction continues")
  func scanOverCompaction() throws {
    try Fixtures.withBackend { backend, songs in
      try backend.commit { for row in UInt32(2)..<5002 { $0.insert(row, in: songs, [1, 2, 3]) } }
      try backend.checkpoint()
      try backend.commit { for row in UInt32(2)..<1002 { $0.delete(row, in: songs) } }
      try backend.checkpoint()
      var count = 0
      _ = try backend.scan(songs, from: nil) { (_, _) throws(StoreError) in
        count += 1
        if count == 10 { _ = try backend.compact() }
        return .next
      }
      #expect(count == 4000)
    }
  }

  @Test("An unfinished checkpoint of a dead writer is in listings, checks and backups")
  func unfinishedCheckpoint() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let songs = try backend.table(named: "Song")
      try backend.commit { $0.insert(2, in: songs, [1]) }
      try backend.checkpoint()
      try backend.close()
      // As if the process had died between the log record and the renaming.
      let log = try StoreFile(directory + "/Commit.log", writable: true)
      let old = try #require(try CommitLogReader(log))
      var writer = try CommitLogWriter(
        log, durability: .full, slot: old.slot, slotIndex: old.slotIndex,
        sequence: 0, offset: CommitLogFormat.firstBatch)
      try writer.append(.checkpoint, [Replacement.encode([.init(newName: ".new.0", name: "Song")])])
      log.close()
      try FileManager.default.moveItem(
        atPath: directory + "/Song", toPath: directory + "/.new.0")

      let reader = try TokyoCabinetBackend(
        directory: directory, configuration: .init(access: .readOnly))
      #expect(try reader.tableNames() == ["Song"] && reader.inspect().tableNames == ["Song"])
      #expect(try reader.fileSize(of: "Song") > 0)
      try reader.backup(to: directory + ".copy")
      try reader.close()
      #expect(try contents(directory) == [".new.0", "Commit.log", "Commit.manifest"])
      let salvaged = try TokyoCabinetBackend.salvage(from: directory, to: directory + ".new")
      #expect(salvaged.classes.map(\.objectCount) == [1])
      let copy = try TokyoCabinetBackend(directory: directory + ".copy")
      #expect(try copy.records(in: copy.table(named: "Song")) == [2: [1]])
      try copy.close()
    }
  }
}
