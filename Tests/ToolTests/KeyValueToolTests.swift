import CSQLite
import Foundation
import KeyValueStore
import ProgramTesting
import Testing

@Suite("stored-objects: key-value stores")
struct KeyValueToolTests {
  private func makeFile(_ path: String) {
    var handle: OpaquePointer?
    #expect(unsafe sqlite3_open(path, &handle) == SQLITE_OK)
    let statements = """
      CREATE TABLE cache (id TEXT NOT NULL, json TEXT NOT NULL, createdTime TEXT NOT NULL, \
      PRIMARY KEY(id)); INSERT INTO cache VALUES ('a', '{"x":1}', 1416000000);
      """
    #expect(unsafe sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK)
    unsafe sqlite3_close(handle)
  }

  @Test("import-ytk creates a store from a SQLite file, for every command")
  func importing() throws {
    try ProgramDirectory.run { tool in
      makeFile(tool.path("cache.sqlite"))
      let run = try tool.run("import-ytk", "cache.sqlite", "--store", "Cache")
      #expect(run.status == 0 && run.output == "cache: 1 item\n", "\(run)")
      let store = try KeyValueStore(directory: tool.path("Cache"))
      #expect(try store.table("cache").get("a", as: [String: Int].self) == ["x": 1])
      try store.close()
      for command in ["check", "info", "compact", "checkpoint"] {
        #expect(try tool.run(command, "Cache").status == 0, "\(command)")
      }
      #expect(try tool.run("backup", "Cache", "Copy").status == 0)
      let copy = try KeyValueStore(directory: tool.path("Copy"))
      #expect(try copy.table("cache").count() == 1)
      try copy.close()
      let again = try tool.run("import-ytk", "cache.sqlite", "--store", "Cache")
      #expect(again.status == 1 && again.errors.contains("already"))
      #expect(try tool.run("import-ytk", "none.sqlite", "--store", "New").status == 1)
      try Data("no database".utf8).write(to: URL(fileURLWithPath: tool.path("bad.sqlite")))
      #expect(try tool.run("import-ytk", "bad.sqlite", "--store", "New").status == 1)
      #expect(!FileManager.default.fileExists(atPath: tool.path("New")))
      #expect(try tool.run("import-ytk", "cache.sqlite").status == 64)
    }
  }

  @Test("The notebook keeps, finds, orders and deletes notes")
  func notebook() throws {
    try ProgramDirectory.run { tool in
      func output(_ arguments: String...) throws -> String {
        let run = try tool.run("notebook", arguments + ["--store", "Notes"])
        return run.status == 0 ? run.output : "failed"
      }
      func titles(_ output: String) -> [String] {
        output.split(separator: "\n").map { String($0.dropFirst(12)) }
      }
      let added = try output("add", "Groceries", "Milk, bread", "--tag", "home")
      #expect(added == "Added \"Groceries\".\n")
      _ = try output("add", "Garage 100%", "MILK for the cat", "--days", "1")
      #expect(try output("add", "Other", "none") == "Added \"Other\".\n")
      #expect(try output("add", "Other", "still none") == "Replaced \"Other\".\n")
      let all = try output("list")
      #expect(titles(all) == ["Garage 100%", "Groceries #home", "Other"])
      let newest = try output("list", "--newest", "--limit", "1")
      #expect(titles(newest) == ["Other"])
      let tagged = try output("list", "--tag", "home")
      #expect(titles(tagged) == ["Groceries #home"])
      #expect(try output("list", "--prefix", "G%") == "")
      let found = try output("search", "milk")
      #expect(titles(found) == ["Garage 100%", "Groceries #home"])
      #expect(try output("show", "Garage 100%").contains("expires "))
      #expect(try output("show", "None") == "failed")
      #expect(try output("delete", "Other", "None") == "failed")
      #expect(try output("list") == all)
      #expect(try output("delete", "Other", "Groceries") == "Deleted 2 notes.\n")
      let left = try output("list")
      #expect(titles(left) == ["Garage 100%"])
    }
  }

  @Test("Notebooks used by many commands at once lose no note")
  func notebooksAtOnce() throws {
    try ProgramDirectory.run { tool in
      let runs = try tool.runAtOnce(
        "notebook", (0..<8).map { ["add", "Note \($0)", "text", "--store", "Notes"] })
      #expect(runs.map(\.errors) == Array(repeating: "", count: 8))
      let list = try tool.run("notebook", ["list", "--store", "Notes"]).output
      #expect((0..<8).allSatisfy { list.contains("Note \($0)") })
      #expect(try tool.run("stored-objects", ["check", "Notes"]).status == 0)
    }
  }

  @Test("A notebook with a passphrase opens with it only, and shows nothing of its notes")
  func encryptedNotebook() throws {
    try ProgramDirectory.run { tool in
      func run(_ arguments: String..., phrase: String?) throws -> (status: Int32, output: String) {
        var arguments = arguments + ["--store", "Secret"]
        if let phrase {
          try Data("\(phrase)\n".utf8).write(to: URL(filePath: tool.path("phrase")))
          arguments += ["--passphrase-file", tool.path("phrase")]
        }
        let run = try tool.run("notebook", arguments)
        return (run.status, run.output + run.errors)
      }
      #expect(try run("add", "Diary", "Dear diary", phrase: "right one").status == 0)
      #expect(try run("show", "Diary", phrase: "right one").output.contains("Dear diary"))
      #expect(try run("list", phrase: nil).output.contains("encrypted"))
      #expect(try run("list", phrase: "wrong one").output.contains("wrongKey"))
      #expect(try run("list", phrase: "").status != 0)
      for name in try FileManager.default.contentsOfDirectory(atPath: tool.path("Secret")) {
        let bytes = try Data(contentsOf: URL(filePath: tool.path("Secret/\(name)")))
        for text in ["diary", "Diary", "notes"] {
          #expect(!name.contains(text) && bytes.range(of: Data(text.utf8)) == nil)
        }
      }
    }
  }
}
