import Foundation
import PostgreSQLBackend
import ProgramTesting
import StoredObjectsCore
import TestServer
import Testing
import TokyoCabinetBackend

private final class Tune: StoredObject {
  @Content var title = ""
  @Content var next: Tune?

  override class var layout: ClassLayout? {
    ClassLayout(
      Tune.self,
      [StoredProperty("title", String.self), StoredProperty("next", Tune?.self)])
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(next)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    next = try buffer.readObject(of: Tune.self)
  }
}

@Suite("The tool with stores on a server", .needsServer)
struct ToolTests {
  /// A store called Music in a directory, with two objects and a named buffer.
  private func makeStore(_ directory: ProgramDirectory) throws {
    let backend = try TokyoCabinetBackend(directory: directory.path("Music"))
    let store = Store(backend: backend)
    try store.register(Tune.self)
    let (first, second) = (Tune(), Tune())
    (first.title, first.next, second.title) = ("Für Elise", second, "b")
    for tune in [first, second] { store.insert(tune) }
    try store.setBuffer(named: "Favorite") { $0.write("Elise") }
    try store.saveChanges()
    try backend.close()
  }

  @Test("A store is copied to a server and back, and every command sees the same in both")
  func roundTrip() throws {
    try ProgramDirectory.run { tool in
      try makeStore(tool)
      let url = "\(try TestServer.shared.get().url())#Music%20\(UUID().uuidString)"
      // The plain tool hands over to the one with libpq.
      let copied = try tool.run("stored-objects", ["convert", "Music", url])
      #expect(copied.status == 0 && copied.output.contains("copied and compared"))
      for command in [
        ["export"], ["dump", "--values", "--json"], ["schema", "--format", "swift"],
      ] {
        let options = Array(command.dropFirst())
        let here = try tool.run("stored-objects", [command[0], "Music"] + options)
        let there = try tool.run("stored-objects-postgresql", [command[0], url] + options)
        #expect(here.status == 0 && here.output == there.output, "\(command)")
      }
      #expect(try tool.run("stored-objects", ["check", url]).output.contains("All is well."))

      try tool.run("stored-objects", ["export", "Music", "-o", "Tunes.jsonl"]).expectSuccess()
      let added = try tool.run("stored-objects", ["import", url, "Tunes.jsonl", "--ids", "new"])
      #expect(added.status == 0 && added.output.contains("2 objects imported."))
      try tool.run("stored-objects", ["convert", url, "Back", "--backend", "cdb"]).expectSuccess()
      #expect(try tool.run("stored-objects", ["export", "Back"]).output.contains("Für Elise"))
      let again = try tool.run("stored-objects", ["convert", "Music", url])
      #expect(again.status == 1)
    }
  }

  @Test("Objects on a server are queried, shown and changed by commands")
  func editing() throws {
    try ProgramDirectory.run { tool in
      try makeStore(tool)
      let url = "\(try TestServer.shared.get().url())#Music%20\(UUID().uuidString)"
      try tool.run("stored-objects", ["convert", "Music", url]).expectSuccess()
      let query = ["Tune", "--where", "title starts with \"Für\"", "--json"]
      let here = try tool.run("stored-objects", ["query", "Music"] + query)
      let there = try tool.run("stored-objects", ["query", url] + query)
      #expect(here.status == 0 && here.output.contains("Elise") && here.output == there.output)
      try tool.run("stored-objects", ["set", url, "Tune/2", "title=Für Therese"]).expectSuccess()
      let changed = try tool.run("stored-objects", ["get", url, "Tune/2"])
      #expect(changed.status == 0 && changed.output.contains("Therese"))
      #expect(try tool.run("stored-objects", ["check", url]).output.contains("All is well."))
      #expect(try tool.run("stored-objects", ["get", url, "Tune/99"]).status == 1)
    }
  }

  @Test("The history of a store on a server is shown, exported and restored as in a directory")
  func history() throws {
    try ProgramDirectory.run { tool in
      try makeStore(tool)
      let url = "\(try TestServer.shared.get().url())#Music%20\(UUID().uuidString)"
      try tool.run("stored-objects", ["convert", "Music", url]).expectSuccess()
      let before = try tool.run("stored-objects", ["export", url]).output
      let begun = try tool.run("stored-objects", ["history", url, "--begin", "--json"])
      let start = try #require(try begun.json([String: UInt64].self)["after"])
      let lines = try tool.run("stored-objects", ["export", url, "--class", "Tune"]).output
      try Data(lines.replacing("Für", with: "An").utf8)
        .write(to: URL(fileURLWithPath: tool.path("Renamed.jsonl")))
      try tool.run("stored-objects", ["import", url, "Renamed.jsonl", "--ids", "replace"])
        .expectSuccess()
      let log = try tool.run("stored-objects", ["log", url]).output
      #expect(log.contains("commit \(start + 1)  "))
      #expect(log.contains("    title: \"Für Elise\" -> \"An Elise\""))
      let difference = try tool.run("stored-objects", ["diff", url, "\(start)"]).output
      #expect(difference.contains("  title: \"Für Elise\" -> \"An Elise\""))
      let earlier = try tool.run("stored-objects", ["export", url, "--as-of", "\(start)"])
      #expect(earlier.status == 0 && earlier.output == before)
      let restored = try tool.run(
        "stored-objects", ["restore", url, "Old", "--commit", "\(start)", "--backend", "cdb"])
      #expect(restored.output == "The store as of commit \(start) is in Old.\n")
      #expect(try tool.run("stored-objects", ["export", "Old"]).output == before)
      #expect(try tool.run("stored-objects", ["check", "Old"]).status == 0)
      #expect(try tool.run("stored-objects", ["log", "Old"]).output.contains("restore"))
      let unclear = try tool.run("stored-objects", ["restore", url, "New", "--commit", "1"])
      #expect(unclear.status == 64)
      let ended = try tool.run("stored-objects", ["history", url, "--end"])
      #expect(ended.output == "The store keeps no history.\n")
    }
  }

  @Test("Commands that a server can't do are errors, without any part of the URL")
  func refusals() throws {
    try ProgramDirectory.run { tool in
      try makeStore(tool)
      let secret = "postgresql://anna:secret@localhost:1/music"
      for arguments in [
        ["dump", secret], ["info", "\(secret)#Music"], ["check", "\(secret)#Music"],
        ["salvage", "\(secret)#Music", "Target"], ["backup", "\(secret)#Music", "Target"],
        ["convert", "Music", "\(secret)#Music", "--backend", "cdb"], ["convert", "Music", "Copy"],
      ] {
        let run = try tool.run("stored-objects", arguments)
        #expect(run.status != 0, "\(arguments)")
        #expect(!(run.output + run.errors).contains("secret"), "\(arguments)")
      }
    }
  }
}

extension ProgramRun {
  fileprivate func expectSuccess() { #expect(status == 0 && errors == "") }
}
