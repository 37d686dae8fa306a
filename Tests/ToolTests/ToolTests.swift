import Foundation
import ProgramTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinet
import TokyoCabinetBackend

/// A record, as `dump --json` writes it.
private struct DumpedRecord: Decodable, Equatable {
  var key: String
  var bytes: String
}

@Suite("stored-objects: info and dump")
struct ToolLookingTests {
  private struct Info: Decodable {
    struct Class: Decodable {
      var name: String
      var classID: UInt8
      var version: UInt8
      var objects: Int
      var nextRowID: UInt32
      var fileBytes: Int
      var hasChecksums: Bool
    }
    struct Log: Decodable {
      var pendingBatches: Int
      var pendingBytes: Int
      var tornTailBytes: Int?
    }
    var classes: [Class]
    var log: Log?
  }

  @Test("info lists the classes in the order of their IDs, with counts and next row IDs")
  func info() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      let run = try tool.run("info", "Music", "--json")
      #expect(run.status == 0 && run.errors == "")
      let info = try run.json(Info.self)
      #expect(info.classes.map(\.name) == ["Song", "Album"])
      #expect(info.classes.map(\.classID) == [0, 1] && info.classes.map(\.objects) == [2, 1])
      #expect(info.classes.map(\.nextRowID) == [4, 3])
      #expect(info.classes.allSatisfy { $0.hasChecksums && $0.fileBytes > 1000 })
      #expect(info.log?.pendingBatches == 0 && info.log?.tornTailBytes == nil)
      let text = try tool.run("info", "Music").output
      #expect(text.contains("0  Song: version 0, 2 objects") && text.contains("1 named buffer"))
    }
  }

  @Test("info counts records in the log only, and reports a torn tail")
  func log() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(pending: ["c", "the last one"])
      let info = try tool.run("info", "Music", "--json").json(Info.self)
      #expect(info.classes.first?.objects == 4 && info.classes.first?.nextRowID == 6)
      #expect(info.log?.pendingBatches == 2 && (info.log?.pendingBytes ?? 0) > 20)
      try tool.edit("Music/Commit.log") { data in
        guard let range = data.range(of: Data("the last one".utf8)) else { return }
        data[range.lowerBound] ^= 1
      }
      let run = try tool.run("info", "Music", "--json")
      let torn = try run.json(Info.self)
      #expect(torn.log?.tornTailBytes != nil && torn.log?.pendingBatches == 1)
      #expect(try tool.run("check", "Music").status == 0)
    }
  }

  @Test("dump of a class is an array of keys and bytes in hex, every record as stored")
  func dumpClass() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(["ab"])
      let run = try tool.run("dump", "Music", "Song", "--json")
      let records = try run.json([DumpedRecord].self)
      #expect(run.status == 0 && Set(records.map(\.key)) == ["01000000", "02000000"])
      let song = try #require(records.first { $0.key == "02000000" })
      #expect(song.bytes.hasPrefix("00" + "02000000" + "6162" + "00000000"))
      #expect(song.bytes.count == 2 * (1 + 4 + 2 + 4 + 4))
      let text = try tool.run("dump", "Music", "Song").output
      #expect(text.contains("02000000 \(song.bytes)\n"))
    }
  }

  @Test("dump of all classes is an object by class names, with the named buffers")
  func dumpAll() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(pending: ["c"])
      let all = try tool.run("dump", "Music", "--json").json([String: [DumpedRecord]].self)
      #expect(Set(all.keys) == ["Song", "Album", "NamedBuffers"])
      #expect(all["Song"]?.count == 4)
      #expect(all["NamedBuffers"]?.map(\.key) == ["4661766f72697465"])
      let one = try tool.run("dump", "Music", "NamedBuffers", "--json").json([DumpedRecord].self)
      #expect(one == all["NamedBuffers"])
    }
  }

  @Test("A record of 0 bytes is dumped, and found by check")
  func emptyRecord() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      try tool.write { $0.update(3, in: $1, []) }
      let records = try tool.run("dump", "Music", "Song", "--json").json([DumpedRecord].self)
      #expect(records.contains(DumpedRecord(key: "03000000", bytes: "")))
      let check = try tool.run("check", "Music")
      #expect(check.status == 1 && check.output.contains("row 3"))
    }
  }

  @Test("An unknown class is an error that lists the known ones")
  func unknownClass() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      let run = try tool.run("dump", "Music", "Sonk")
      #expect(run.status == 1 && run.output == "")
      #expect(run.errors.hasPrefix("Error: ") && run.errors.contains("Album, Song"))
    }
  }

  @Test("Commands that read create and change nothing", arguments: ["info", "check", "dump"])
  func readOnly(verb: String) throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(pending: ["c"])
      func state() throws -> [String: Data] {
        try Dictionary(
          uniqueKeysWithValues: tool.contents("Music").map {
            ($0, try Data(contentsOf: tool.folder.appendingPathComponent("Music/\($0)")))
          })
      }
      let before = try state()
      #expect(try tool.run(verb, "Music").status == 0)
      #expect(try state() == before)
    }
  }
}

@Suite("stored-objects: check")
struct ToolCheckTests {
  private struct Report: Decodable {
    struct Finding: Decodable {
      var kind: String
      var path: String?
      var `class`: String?
      var rowID: UInt32?
      var message: String
    }
    var isSound: Bool
    var findings: [Finding]
    var namedBuffers: Int
  }

  /// Checks the store after something was done to it.
  private func kinds(
    pending: [String] = [], _ harm: (ProgramDirectory) throws -> Void
  ) throws -> [String] {
    var kinds: [String] = []
    try ProgramDirectory.run { tool in
      try tool.makeStore(pending: pending)
      try harm(tool)
      let run = try tool.run("check", "Music", "--json")
      let report = try run.json(Report.self)
      #expect(run.status == (report.isSound ? 0 : 1))
      #expect(report.isSound == report.findings.isEmpty)
      kinds = report.findings.map(\.kind)
    }
    return kinds
  }

  @Test("A sound store gives exit code 0, in text and JSON")
  func sound() throws {
    #expect(try kinds { _ in } == [])
    #expect(try kinds(pending: ["c"]) { _ in } == [])
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      let run = try tool.run("check", "Music")
      #expect(run.status == 0 && run.output.hasSuffix("All is well.\n") && run.errors == "")
    }
  }

  @Test("Damage of every kind is found, named, and gives exit code 1")
  func damage() throws {
    #expect(try kinds { try $0.write { $0.update(1, in: $1, [1]) } } == ["metadataDamaged"])
    #expect(try kinds { try $0.write { $0.delete(1, in: $1) } }.contains("metadataMissing"))
    #expect(try kinds { try $0.write { $0.update(2, in: $1, [0, 1]) } } == ["checksum"])
    #expect(try kinds { try $0.write { $0.update(99, in: $1, [0]) } } == ["rowOutOfRange"])
    #expect(try kinds { try $0.edit("Music/Song") { $0.removeLast(20) } } == ["fileDamaged"])
    #expect(try kinds { try $0.edit("Music/Song") { $0.removeAll() } }.contains("fileDamaged"))
    #expect(try kinds { try $0.edit("Music/NamedBuffers") { $0[0] = 0 } } == ["fileDamaged"])
    #expect(
      try kinds { try FileManager.default.removeItem(atPath: $0.path("Music/Song")) }
        == ["fileDamaged"])
    #expect(
      try kinds { try Data([1]).write(to: $0.folder.appendingPathComponent("Music/a.wal")) }
        == ["foreignFile"])
  }

  @Test("Damage in the middle of the log is found, and its later saves are not ignored silently")
  func logMiddle() throws {
    let kinds = try kinds(pending: ["uno", "due", "tre"]) { tool in
      try tool.edit("Music/Commit.log") { data in
        guard let range = data.range(of: Data("due".utf8)) else { return }
        data[range.lowerBound] ^= 1
      }
    }
    #expect(kinds == ["log"])
  }
}

@Suite("stored-objects: backup, salvage, checkpoint and compact")
struct ToolMendingTests {
  @Test("backup creates a store with all saves, also those in the log")
  func backup() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(pending: ["c"])
      let run = try tool.run("backup", "Music", "Copy", "--json")
      #expect(run.status == 0 && run.errors == "")
      #expect(try run.json([String: String].self) == ["target": "Copy"])
      #expect(try tool.titles(in: "Copy") == ["Für Elise", "b", "c"])
      let again = try tool.run("backup", "Music", "Copy")
      #expect(again.status == 1 && again.errors.hasPrefix("Error: "))
    }
  }

  @Test("salvage copies all sound data, lists the rest, and gives exit code 1 if any is lost")
  func salvage() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(["one", "two", "three"])
      #expect(try tool.run("salvage", "Music", "Whole").status == 0)
      #expect(try tool.titles(in: "Whole") == ["one", "two", "three"])
      try tool.edit("Music/Song") { data in
        guard let range = data.range(of: Data("two".utf8)) else { return }
        data[range.lowerBound] ^= 1
      }
      let run = try tool.run("salvage", "Music", "Saved", "--json")
      #expect(run.status == 1 && run.output.contains("\"kind\" : \"checksum\""))
      #expect(try tool.titles(in: "Saved") == ["one", "three"])
      #expect(try tool.run("check", "Saved").status == 0)
    }
  }

  @Test("checkpoint folds the log into the class files")
  func checkpoint() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(pending: ["c"])
      let run = try tool.run("checkpoint", "Music", "--json")
      let report = try run.json([String: Int].self)
      #expect(run.status == 0 && (report["bytesFolded"] ?? 0) > 0)
      for name in ["log", "manifest"] {
        try FileManager.default.removeItem(atPath: tool.path("Music/Commit.\(name)"))
      }
      #expect(try tool.titles(in: "Music") == ["Für Elise", "b", "c"])
    }
  }

  @Test("compact reports the number of released bytes")
  func compact() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      let file = try HashDatabase(path: tool.path("Music/Song"))
      try file.put(key: [3, 0, 0, 0], value: [UInt8](repeating: 0, count: 100_000))
      _ = try file.remove(key: [3, 0, 0, 0])
      try file.close()
      let run = try tool.run("compact", "Music", "--json")
      let report = try run.json([String: Int].self)
      #expect(run.status == 0 && (report["bytesSaved"] ?? 0) > 90_000)
      #expect(try tool.titles(in: "Music") == ["Für Elise"])
      #expect(try tool.run("compact", "Music").output == "0 bytes saved\n")
    }
  }
}

@Suite("stored-objects: unusual arguments")
struct ToolInputTests {
  static let verbs = [
    "info", "schema", "check", "backup", "salvage", "compact", "checkpoint", "dump", "export",
    "import",
  ]

  private func arguments(_ verb: String, _ store: String) -> [String] {
    ["backup", "salvage", "import"].contains(verb) ? [verb, store, "Target"] : [verb, store]
  }

  private func run(_ tool: ProgramDirectory, _ verb: String, _ store: String) throws -> ProgramRun {
    let all = arguments(verb, store)
    return all.count == 3 ? try tool.run(all[0], all[1], all[2]) : try tool.run(all[0], all[1])
  }

  @Test(
    "No directory, a file, and an empty directory are errors, and are not changed",
    arguments: verbs)
  func noStore(verb: String) throws {
    try ProgramDirectory.run { tool in
      try Data([1]).write(to: tool.folder.appendingPathComponent("File"))
      try FileManager.default.createDirectory(
        atPath: tool.path("Empty"), withIntermediateDirectories: true)
      for name in ["Missing", "File", "Empty"] {
        let run = try run(tool, verb, name)
        #expect(run.status == 1 && run.output == "" && run.errors.hasPrefix("Error: "))
      }
      #expect(try tool.contents("").filter { !$0.hasPrefix(".") } == ["Empty", "File"])
      #expect(try tool.contents("Empty") == [])
    }
  }

  @Test(
    "A directory of other files is not a store, and nothing is created in it",
    arguments: ["info", "schema", "backup", "compact", "checkpoint", "dump", "export", "import"])
  func otherThings(verb: String) throws {
    try ProgramDirectory.run { tool in
      try FileManager.default.createDirectory(
        atPath: tool.path("Other"), withIntermediateDirectories: true)
      try Data([1]).write(to: tool.folder.appendingPathComponent("Other/letter.txt"))
      let run = try run(tool, verb, "Other")
      #expect(run.status == 1 && run.errors.contains("is not a store"))
      #expect(try tool.contents("Other") == ["letter.txt"])
    }
  }

  @Test("A store that a program has open is read, and not written", arguments: verbs)
  func inUse(verb: String) throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      let backend = try TokyoCabinetBackend(directory: tool.path("Music"))
      let run = try run(tool, verb, "Music")
      if ["info", "schema", "check", "backup", "dump", "export", "convert"].contains(verb) {
        #expect(run.status == 0 && run.errors.isEmpty)
      } else {
        #expect(run.status == 1 && run.errors.contains("inUse"))
        #expect(!FileManager.default.fileExists(atPath: tool.path("Target")))
      }
      try backend.close()
    }
  }

  @Test("An invalid command line gives exit code 64")
  func usage() throws {
    try ProgramDirectory.run { tool in
      let runs = try [
        tool.run("info"), tool.run("frobnicate", "Music"), tool.run("info", "Music", "--yaml"),
        tool.run("backup", "Music"),
      ]
      #expect(runs.map(\.status) == [64, 64, 64, 64])
    }
  }

  @Test("help lists every verb")
  func help() throws {
    try ProgramDirectory.run { tool in
      let run = try tool.run("--help")
      #expect(run.status == 0 && Self.verbs.allSatisfy { run.output.contains($0) })
    }
  }
}
