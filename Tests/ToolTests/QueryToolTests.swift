import Foundation
import ProgramTesting
import StoredObjectsCore
import Testing
import TokyoCabinetBackend

@Suite("The tool's query, get and set")
struct QueryToolTests {
  private func withLibrary(_ body: (ProgramDirectory) throws -> Void) throws {
    try ProgramDirectory.run { directory in
      try directory.makeLibrary()
      let backend = try TokyoCabinetBackend(directory: directory.path("Library"))
      try backend.checkpoint()
      try backend.close()
      try body(directory)
    }
  }

  @Test("A query prints the objects of a condition, as text, JSON or a number")
  func query() throws {
    try withLibrary { directory in
      let all = try directory.run("query", "Library", "Artist", "--json")
      #expect(all.status == 0 && all.output.split(separator: "\n").count == 1)
      #expect(all.output.hasPrefix(#"{"id":"Artist/2","values":{"#))
      let none = try directory.run("query", "Library", "Artist", "--where", "name != \"\"")
      #expect(none.status == 0 && none.output == "")
      let counted = try directory.run(
        "query", "Library", "Artist", "--where", "id >= 2 and name = ''", "--count")
      #expect(counted.status == 0 && counted.output == "1\n")
      let sorted = try directory.run(
        "query", "Library", "Artist", "--sort", "-name", "--limit", "1", "--explain")
      #expect(sorted.output == "Artist/2\n  name: \"\"\n")
      #expect(sorted.errors == "by sorting in memory\n")
    }
  }

  @Test(
    "A mistake in the command line is an error with an explanation",
    arguments: [
      (["browse", "Nowhere"], "There is no directory"),
      (["query", "Library", "Nobody"], "There is no class"),
      (["query", "Library", "Artist", "--where", "name ="], "At character 7 of the condition"),
      (["query", "Library", "Artist", "--sort", "age"], "no property"),
      (["get", "Library", "Artist/99"], "There is no object Artist/99"),
      (["get", "Library", "Artist"], "write a class and a row"),
      (["get", "Library", "Artist/2", "--property", "age"], "has no property"),
      (["set", "Library", "Artist/2", "name"], "NAME=VALUE"),
      (["set", "Library", "Artist/2", "age=3"], "has no property"),
      (["set", "Library", "Artist/99", "name=Ann"], "There is no object"),
    ])
  func mistakes(arguments: [String], message: String) throws {
    try withLibrary { directory in
      let run = try directory.run("stored-objects", arguments)
      #expect(run.status != 0 && run.output == "")
      #expect(run.errors.contains(message), "\(run.errors)")
    }
  }

  @Test("A value that is set can be read, and an old version is refused")
  func setting() throws {
    struct Report: Decodable {
      var commit: Int?
      var changed: [String]
      var version: String
    }
    try withLibrary { directory in
      let first: Report = try directory.run("set", "Library", "Artist/2", "name=Ann = B", "--json")
        .json()
      #expect(first.commit != nil && first.changed == ["Artist/2"])
      let name = try directory.run("get", "Library", "Artist/2", "--property", "name")
      #expect(name.output == "Ann = B\n")
      let again: Report = try directory.run("set", "Library", "Artist/2", "name=Ann = B", "--json")
        .json()
      #expect(again.commit == nil && again.version == first.version)
      _ = try directory.run("set", "Library", "Artist/2", "name=C")
      let late = try directory.run(
        "set", "Library", "Artist/2", "name=D", "--if-version", first.version)
      #expect(late.status == 1 && late.errors.contains("has changed since"))
      #expect(try directory.run("get", "Library", "Artist/2", "--property", "name").output == "C\n")
      #expect(try directory.run("check", "Library").status == 0)
    }
  }
}
