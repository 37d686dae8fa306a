import Foundation
import ProgramTesting
import Testing

@Suite("stored-objects: constant databases")
struct ConvertTests {
  @Test("convert moves a store between backends either way, and every command works on both")
  func convert() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(pending: ["c"])
      let run = try tool.run("convert", "Music", "In CDB", "--backend", "cdb")
      #expect(run.status == 0 && run.output.contains("6 records copied and compared"))
      #expect(FileManager.default.fileExists(atPath: tool.path("In CDB/Song.cdb")))
      #expect(try tool.run("info", "In CDB").output.contains("0  Song: version 0, 3 objects"))
      #expect(try tool.run("check", "In CDB").status == 0)
      #expect(try tool.run("compact", "In CDB").status == 0)
      #expect(try tool.run("checkpoint", "In CDB").status == 0)
      #expect(try tool.run("backup", "In CDB", "Backup").status == 0)
      #expect(try tool.run("salvage", "Backup", "Salvaged").status == 0)
      let back = try tool.run("convert", "Salvaged", "Back", "--backend", "tokyo-cabinet")
      #expect(back.status == 0)
      #expect(try Set(tool.titles(in: "Back")) == ["Für Elise", "b", "c"])
    }
  }

  @Test("convert refuses a target with content, and leaves no partial copy")
  func refusals() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      #expect(try tool.run("convert", "Music", "Music", "--backend", "cdb").status == 1)
      #expect(try tool.run("convert", "Nothing", "New", "--backend", "cdb").status == 1)
      #expect(try tool.run("convert", "Music", "New", "--backend", "paper").status == 64)
      let names = try FileManager.default.contentsOfDirectory(atPath: tool.path("."))
      #expect(names.contains("Music") && !names.contains { $0.hasPrefix("New") })
    }
  }

  @Test("A damaged constant database is found, and its readable part salvaged")
  func damage() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      #expect(try tool.run("convert", "Music", "In CDB", "--backend", "cdb").status == 0)
      try tool.edit("In CDB/Song.cdb") { $0.removeLast(30) }
      #expect(try tool.run("check", "In CDB").status == 1)
      #expect(try tool.run("salvage", "In CDB", "Salvaged").status == 1)
      #expect(try tool.run("check", "Salvaged").status == 0)
    }
  }
}
