import Foundation
import KeyValueStore
import ProgramTesting
import SystemSQLite
import Testing
import YTKImport

/// The fixtures were encrypted with the passphrase "open sesame" by SQLCipher 3.4.1, with the
/// settings of versions 1 to 3, and by SQLCipher 4.12.
@Suite("Imports of encrypted files")
struct SQLCipherTests {
  private func withFixture(
    _ name: String, _ body: (ProgramDirectory) throws -> Void
  ) throws {
    let fixture = "\(#filePath)/../Fixtures/\(name).sqlite"
    try ProgramDirectory.run { tool in
      try FileManager.default.copyItem(
        atPath: URL(fileURLWithPath: fixture).standardizedFileURL.path,
        toPath: tool.path("notes.sqlite"))
      try Data("open sesame\n".utf8).write(to: URL(fileURLWithPath: tool.path("key.txt")))
      try body(tool)
    }
  }

  private func importing(_ tool: ProgramDirectory, _ options: String...) throws -> ProgramRun {
    try tool.run(
      "stored-objects", ["import-ytk", "notes.sqlite", "--store", "Notes"] + options)
  }

  @Test("Files of SQLCipher 1, 2 and 3 are imported", arguments: [1, 2, 3])
  func earlierVersions(_ version: Int) throws {
    try withFixture("sqlcipher\(version)") { tool in
      let before = FileManager.default.contents(atPath: tool.path("notes.sqlite"))
      let run = try importing(tool, "--passphrase-file", "key.txt")
      #expect(run.status == 0 && run.output == "notes: 2 items\n", "\(run)")
      let store = try KeyValueStore(directory: tool.path("Notes"))
      #expect(try store.table("notes").get("s", as: String.self) == "text")
      #expect(try store.table("notes").value(for: "1") == ["name": "tang", "age": 30])
      try store.close()
      #expect(FileManager.default.contents(atPath: tool.path("notes.sqlite")) == before)
    }
  }

  @Test("A file of SQLCipher 4 is imported, or the error names the version that can't read it")
  func version4() throws {
    try withFixture("sqlcipher4") { tool in
      let run = try importing(tool, "--passphrase-file", "key.txt")
      if run.status == 0 {
        #expect(run.output == "notes: 2 items\n")
      } else {
        let version = try #require(run.errors.firstMatch(of: #/SQLCipher \((\d+)\./#)?.1)
        #expect(try #require(Int(version)) < 4, "\(run.errors)")
      }
    }
  }

  @Test("Without the right passphrase nothing is created")
  func wrongPassphrase() throws {
    try withFixture("sqlcipher3") { tool in
      try Data("close sesame".utf8).write(to: URL(fileURLWithPath: tool.path("wrong.txt")))
      try Data().write(to: URL(fileURLWithPath: tool.path("empty.txt")))
      let run = try importing(tool, "--passphrase-file", "wrong.txt")
      #expect(run.status == 1 && run.errors.contains("doesn't open \"notes.sqlite\""), "\(run)")
      for file in ["empty.txt", "none.txt"] {
        #expect(try importing(tool, "--passphrase-file", file).status == 64)
      }
      // The tests have no terminal that could ask.
      #expect(try importing(tool, "--encrypted").status == 64)
      // Without a key it is no database.
      #expect(try importing(tool).status == 1)
      #expect(!FileManager.default.fileExists(atPath: tool.path("Notes")))
    }
  }

  @Test("A file that is not encrypted is refused with a key, and no file is damaged")
  func notEncrypted() throws {
    try withFixture("sqlcipher3") { tool in
      try Data("no database".utf8).write(to: URL(fileURLWithPath: tool.path("notes.sqlite")))
      #expect(try importing(tool, "--passphrase-file", "key.txt").status == 1)
      let path = tool.path("notes.sqlite")
      #expect(FileManager.default.contents(atPath: path) == Data("no database".utf8))
    }
  }

  @Test("A key instead of a passphrase has 64 digits")
  func keys() throws {
    try withFixture("sqlcipher3-raw") { tool in
      let digits = String(repeating: "0f", count: 32)
      try Data(digits.utf8).write(to: URL(fileURLWithPath: tool.path("key.txt")))
      try Data(digits.dropLast().utf8).write(to: URL(fileURLWithPath: tool.path("short.txt")))
      #expect(try importing(tool, "--key-file", "short.txt").status == 64)
      let twice = try importing(tool, "--key-file", "key.txt", "--passphrase-env", "KEY")
      #expect(twice.status == 64 && twice.errors.contains("one way only"), "\(twice)")
      let run = try importing(tool, "--key-file=key.txt", "--json")
      #expect(run.status == 0 && run.output.contains("\"notes\" : 2"), "\(run)")
    }
    #expect(DatabaseKey(raw: [1, 2, 3]) == nil)
  }

  @Test("SQLite itself refuses a key")
  func withoutSQLCipher() throws {
    try withFixture("sqlcipher3") { tool in
      let key = DatabaseKey(passphrase: "open sesame")
      let source = YTKImport(path: tool.path("notes.sqlite"), reading: .sqlite, key: key)
      #expect(throws: YTKImport.Failure.self) { try source.check() }
    }
  }
}
