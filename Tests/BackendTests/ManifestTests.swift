import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@testable import TokyoCabinetBackend

@Suite("Required files of a store's directory")
struct ManifestTests {
  typealias Fixtures = TokyoFixtures

  /// A store with one row in a class file and one in the log only, as a killed process leaves it.
  private func withKilledStore(_ body: (String) throws -> Void) throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let songs = try backend.table(named: "Song")
      try backend.commit { $0.insert(2, in: songs, [1]) }
      try backend.checkpoint()
      try backend.commit { $0.insert(3, in: songs, [2]) }
      try FileManager.default.copyItem(atPath: directory, toPath: directory + ".killed")
      try backend.close()
      try body(directory + ".killed")
    }
  }

  private func refusal(_ directory: String, _ configuration: TokyoCabinetBackend.Configuration)
    -> StoreError.Code?
  {
    Fixtures.error {
      try TokyoCabinetBackend(directory: directory, configuration: configuration).close()
    }?.code
  }

  /// Expects opening for reading and writing, check and salvage to report damage.
  private func expectDamage(_ directory: String, _ comment: Comment) throws {
    #expect(refusal(directory, .init(access: .readOnly)) == .damaged, comment)
    #expect(try !TokyoCabinetBackend.check(directory: directory).isSound, comment)
    let target = directory + ".new"
    let report = try TokyoCabinetBackend.salvage(from: directory, to: target)
    #expect(!report.losses.isEmpty, comment)
    try FileManager.default.removeItem(atPath: target)
    #expect(refusal(directory, .init()) == .damaged, comment)
  }

  @Test("A log that is deleted, or truncated at any length, is damage")
  func lostLog() throws {
    try withKilledStore { directory in
      let log = directory + "/Commit.log"
      let content = try Data(contentsOf: URL(fileURLWithPath: log))
      for size in [0, 1, 511, 512, 4096, 5000, content.count - 1] {
        try content.prefix(size).write(to: URL(fileURLWithPath: log))
        try expectDamage(directory, "\(size) bytes")
      }
      try Data(count: content.count).write(to: URL(fileURLWithPath: log))
      try expectDamage(directory, "zeros")
      try FileManager.default.removeItem(atPath: log)
      try expectDamage(directory, "deleted")
    }
  }

  @Test("The log of another store is damage")
  func otherLog() throws {
    try withKilledStore { directory in
      try TokyoCabinetBackend(directory: directory + ".other").close()
      try FileManager.default.removeItem(atPath: directory + "/Commit.log")
      try FileManager.default.copyItem(
        atPath: directory + ".other/Commit.log", toPath: directory + "/Commit.log")
      try expectDamage(directory, "of another store")
    }
  }

  @Test("A missing class file is damage, and a restored one is not")
  func lostFile() throws {
    try withKilledStore { directory in
      try FileManager.default.moveItem(atPath: directory + "/Song", toPath: directory + ".Song")
      try expectDamage(directory, "deleted")
      try FileManager.default.moveItem(atPath: directory + ".Song", toPath: directory + "/Song")
      let backend = try TokyoCabinetBackend(directory: directory)
      #expect(try backend.records(in: backend.table(named: "Song")) == [2: [1], 3: [2]])
      try backend.close()
    }
  }

  @Test("A damaged or missing manifest is reported by check, and rebuilt if the log exists")
  func lostManifest() throws {
    try withKilledStore { directory in
      let path = directory + "/Commit.manifest"
      let content = try Data(contentsOf: URL(fileURLWithPath: path))
      try content.dropLast().write(to: URL(fileURLWithPath: path))
      let check = try TokyoCabinetBackend.check(directory: directory)
      #expect(check.findings.map(\.kind) == [.fileDamaged])
      for _ in 0..<2 {
        let backend = try TokyoCabinetBackend(directory: directory)
        #expect(try backend.recordCount(in: backend.table(named: "Song")) == 2)
        try backend.close()
        #expect(
          try TokyoCabinetBackend.check(directory: directory).findings
            .map(\.kind) == [.metadataMissing])
        #expect(FileManager.default.fileExists(atPath: path))
        try FileManager.default.removeItem(atPath: path)
      }
    }
  }

  @Test("A store without log and manifest opens, and gets a manifest")
  func original() throws {
    try withKilledStore { directory in
      for name in ["log", "manifest"] {
        try FileManager.default.removeItem(atPath: "\(directory)/Commit.\(name)")
      }
      let reader = try TokyoCabinetBackend(
        directory: directory, configuration: .init(access: .readOnly))
      #expect(try reader.records(in: reader.table(named: "Song")) == [2: [1]])
      try reader.close()
      try TokyoCabinetBackend(directory: directory).close()
      try FileManager.default.removeItem(atPath: directory + "/Song")
      try expectDamage(directory, "deleted afterwards")
    }
  }

  @Test("A class file that another program changes or rewrites stays a part of the store")
  func changedByOthers() throws {
    let tool = "/usr/bin/tchmgr"
    guard FileManager.default.isExecutableFile(atPath: tool) else {
      print("skipped: tchmgr is not installed")
      return
    }
    try withKilledStore { directory in
      for arguments in [
        ["put", "-sx", "\(directory)/Song", "05000000", "09"], ["optimize", "\(directory)/Song"],
      ] {
        let process = try Process.run(URL(filePath: tool), arguments: arguments)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let backend = try TokyoCabinetBackend(
          directory: directory, configuration: .init(access: .readOnly))
        #expect(try backend.records(in: backend.table(named: "Song")) == [2: [1], 3: [2], 5: [9]])
        try backend.close()
      }
    }
  }

  @Test("The backend, its check and the state of its log report the bytes of a torn tail")
  func tornTail() throws {
    try withKilledStore { directory in
      let log = directory + "/Commit.log"
      var content = try Data(contentsOf: URL(fileURLWithPath: log))
      // The last save's payload: its checksum is wrong then, as after a crash.
      content[4096 + 40] ^= 1
      try content.write(to: URL(fileURLWithPath: log))
      #expect(try TokyoCabinetBackend.check(directory: directory).tornTailByteCount == 128)
      let backend = try TokyoCabinetBackend(directory: directory)
      #expect(backend.tornTailByteCount == 128)
      #expect(try backend.logState()?.tornTailByteCount == nil)
      try backend.close()
    }
  }
}
