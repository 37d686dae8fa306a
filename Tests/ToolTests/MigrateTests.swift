import Foundation
import ProgramTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

@Suite("stored-objects: migrate")
struct MigrateTests {
  /// The song under its new name.
  private final class Tune: StoredObject {
    @Content var title = ""
    @Content var next: Tune?

    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
      next = try buffer.readObject(of: Tune.self)
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(title)
      buffer.write(next)
    }
  }

  @Test("Classes are renamed and retired, and a rehearsal changes nothing")
  func migrates() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(["a", "b"])
      let steps = ["--rename", "Song=Tune", "--retire", "Album"]
      let rehearsal = try tool.run("migrate", "Music", steps + ["--rehearse"])
      #expect(rehearsal.status == 0 && rehearsal.errors == "")
      #expect(rehearsal.output.contains("Tune, before Song: 0 inserted, 0 updated, 0 deleted"))
      #expect(rehearsal.output.contains("Album, retired: 0 inserted, 0 updated, 1 deleted"))
      #expect(try tool.titles(in: "Music") == ["a", "b"])
      let run = try tool.run("migrate", "Music", steps)
      #expect(run.status == 0 && run.errors == "")
      #expect(run.output == "Done: rename Song to Tune.\nDone: retire Album.\n")
      #expect(try tool.run("check", "Music").status == 0)
      let backend = try TokyoCabinetBackend(directory: tool.path("Music"))
      #expect(try backend.tableNames() == ["Tune"])
      // The tool's steps are none of the program's.
      let store = Store(backend: backend)
      try store.register(Tune.self)
      #expect(try store.allObjects(of: Tune.self).map(\.title) == ["a", "b"])
      let tune = Tune()
      store.insert(tune)
      try store.saveChanges()
      #expect(tune.rowID == 4)
      try backend.close()
    }
  }

  @Test("--json has the changes")
  func json() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(["a", "b"])
      let run = try tool.run(
        "migrate", "Music", ["--retire", "Album", "--rehearse", "--json"])
      let json = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
      let classes = json?["classes"] as? [[String: Any]]
      #expect(json?["steps"] as? [String] == ["retire Album"])
      #expect(classes?.count == 1 && classes?.first?["deleted"] as? Int == 1)
      #expect(classes?.first?["isRetired"] as? Bool == true)
    }
  }

  @Test("A missing class, a used name, and no step at all are refused")
  func refused() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore(["a"])
      let missing = try tool.run("migrate", "Music", ["--retire", "Genre"])
      #expect(missing.status == 1 && missing.errors.contains("It has Album, Song."))
      let taken = try tool.run("migrate", "Music", ["--rename", "Song=Album"])
      #expect(taken.status == 1 && taken.errors.contains("invalidName"))
      #expect(try tool.run("migrate", "Music", []).status == 64)
      #expect(try tool.run("migrate", "Music", ["--rename", "Song"]).status == 64)
      #expect(try tool.titles(in: "Music") == ["a"])
    }
  }
}
