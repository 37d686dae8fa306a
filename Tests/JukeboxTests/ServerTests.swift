import Foundation
import ProgramTesting
import TestServer
import Testing

@Suite(
  "The program with a store on a server",
  .enabled(if: TestServer.isAvailable, "PostgreSQL isn't installed: ./dev setup installs it"))
struct ServerTests {
  private struct List: Decodable {
    var name: String
  }

  /// Returns the URL of a new store.
  private func url() throws -> String {
    "\(try TestServer.shared.get().url())#Music%20\(UUID().uuidString)"
  }

  private func withLibrary(_ body: (ProgramDirectory, String) throws -> Void) throws {
    try ProgramDirectory.run { program in
      let (path, url) = (try program.write(smallLibrary(), "Library.xml"), try url())
      let run = try program.runBare(["import", path, "--store", url])
      #expect(run.status == 0 && run.errors == "")
      #expect(run.output.hasPrefix("Imported 3 songs (3 new"))
      try body(program, url)
    }
  }

  @Test("takes a URL wherever it takes a directory, with the same output")
  func sameOutput() throws {
    try withLibrary { program, url in
      let path = program.path("Library.xml")
      let commands = [
        ["create", "Mine"], ["add", "Mine", "Vltava", "#1"], ["move", "Mine", "1", "2"],
        ["delete-song", "#3"], ["playlists"], ["show", "Mine"], ["undo"], ["redo"], ["undo"],
        ["songs", "--where", "time > 3:00", "--json"], ["search", "rag"], ["show", "Nowhere"],
        ["undo"], ["undo"], ["undo"], ["undo"], ["import", path], ["watch", path],
        ["export", program.path("Exported.xml")], ["playlists", "--json"],
      ]
      _ = try program.run("import", path)
      for command in commands {
        let there = try program.runBare([command[0], "--store=\(url)"] + command.dropFirst())
        let exported = program.exported
        let here = try program.runBare(command + ["--store", program.path("Music")])
        #expect((there.status, there.output) == (here.status, here.output), "\(command)")
        #expect(there.errors == here.errors, "\(command)")
        #expect(program.exported == exported)
      }
    }
  }

  @Test("repeats a command if another machine has saved meanwhile")
  func atOnce() throws {
    try withLibrary { program, url in
      let commands = (0..<6).map { ["create", "List \($0)", "--store", url] }
      let runs = try program.runAtOnce("jukebox", commands)
      #expect(runs.map(\.errors) == Array(repeating: "", count: 6))
      let run = try program.runBare(["playlists", "--json", "--store", url])
      let lists: [List] = try run.json()
      let names = lists.map(\.name).sorted()
      #expect(names == ["Evening"] + (0..<6).map { "List \($0)" } + ["Rags"])
    }
  }

  @Test("creates no store for reading or changing, and shows nothing of the URL in errors")
  func refusals() throws {
    // The schema exists.
    try withLibrary { program, _ in
      let server = try TestServer.shared.get()
      let url = try url()
      for command in [["songs"], ["undo"], ["delete-song", "#1"]] {
        let run = try program.runBare(command + ["--store", url])
        #expect(run.status == 1 && run.errors.contains("no store of this name"), "\(command)")
      }
      let backend = try program.runBare(["create", "Mine", "--store", url, "--backend", "cdb"])
      #expect(backend.status == 1 && backend.errors.contains("--backend"))
      let name = try #require(url.components(separatedBy: "%20").last)
      let count = try server.sql(
        "select count(*) from stored_objects.stores where name like '%\(name)'")
      #expect(count == "0")
      let secret = "postgresql://anna:secret@localhost:1/music"
      for store in [secret, "\(secret)#Music"] {
        let run = try program.runBare(["songs", "--store", store])
        #expect(run.status == 1 && !(run.output + run.errors).contains("secret"))
      }
    }
  }
}

extension ProgramDirectory {
  /// The exported library; nil before the first export.
  fileprivate var exported: Data? {
    try? Data(contentsOf: URL(fileURLWithPath: path("Exported.xml")))
  }
}
