import Foundation
import ProgramTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

@Suite("stored-objects: export, import and dump by properties")
struct JSONToolTests {
  private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

  @Test("export writes names of properties, each record in its own layout, and import reads it")
  func roundTrip() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let run = try tool.run("export", "Library")
      #expect(run.status == 0 && run.errors == "")
      let lines = lines(run.output)
      #expect(lines.count == 5 && lines[0].hasSuffix(#""storedObjects":1}"#))
      #expect(lines.contains { $0.contains(#""id":"Artist/2","values":{"name":"#) })
      #expect(lines.contains { $0.contains(#""layout":0,"values":{"isOld":"#) })
      let file = try tool.run("export", "Library", "-o", "All.jsonl")
      #expect(file.output == "4 objects exported to All.jsonl.\n")
      for backend in ["cdb", "tokyo-cabinet"] {
        let made = try tool.run("import", "New \(backend)", ["All.jsonl", "--create", backend])
        #expect(made.output == "4 objects imported.\n" && made.errors == "")
        let again = try tool.run("export", "New \(backend)").output
        #expect(Set(self.lines(again)) == Set(lines))
        #expect(try tool.run("check", "New \(backend)").status == 0)
      }
      let second = try tool.run("import", "New cdb", "All.jsonl")
      #expect(second.status == 1 && second.errors.contains("rowExists [All.jsonl, line 2"))
      let replaced = try tool.run("import", "New cdb", ["All.jsonl", "--ids", "replace", "--json"])
      #expect(try replaced.json([String: Int].self) == ["objects": 4])
      #expect(try Set(self.lines(tool.run("export", "New cdb").output)) == Set(lines))
    }
  }

  @Test("--class exports some classes, --depth nests referenced objects")
  func options() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let artists = try tool.run("export", "Library", ["--class", "Artist"]).output
      #expect(lines(artists).count == 2)
      let options = ["--class", "My Playlist", "--depth", "2"]
      let deep = try tool.run("export", "Library", options).output
      #expect(lines(deep).count == 2 && deep.contains(#""id":"Track/3""#))
      #expect(!deep.contains(#""tracks":["Track/3"]"#))
      let unknown = try tool.run("export", "Library", ["--class", "Tracks"])
      #expect(unknown.status == 1 && unknown.errors.contains("There is no class \"Tracks\""))
    }
  }

  @Test("Classes without properties are exported as bytes, and the program opens the import")
  func bytes() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      let export = try tool.run("export", "Music", "-o", "Music.jsonl")
      #expect(export.status == 0)
      let text = try String(contentsOfFile: tool.path("Music.jsonl"), encoding: .utf8)
      #expect(text.contains(#"{"bytes":"CgAAAEbDvHIgRWxpc2UAAAAA","id":"Song/2","layout":0}"#))
      #expect(
        try tool.run("import", "Copy", ["Music.jsonl", "--create", "tokyo-cabinet"]).status == 0)
      #expect(try tool.titles(in: "Copy") == ["Für Elise", "b"])
      let new = try tool.run("import", "Copy", ["Music.jsonl", "--ids", "new"])
      #expect(new.status == 1 && new.errors.contains("can't be renumbered"))
    }
  }

  @Test("dump --values shows properties, and names objects that can't be read")
  func dump() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let text = try tool.run("dump", "Library", ["Artist", "--values"])
      #expect(text.status == 0 && lines(text.output)[0] == "Artist/2")
      #expect(lines(text.output)[1].hasPrefix("  name: \""))
      try tool.makeStore()
      try tool.write { changes, songs in changes.update(3, in: songs, [0, 1, 2]) }
      let damaged = try tool.run("dump", "Music", ["Song", "--values", "--json"])
      #expect(damaged.status == 1)
      #expect(lines(damaged.output).count == 2)
      #expect(lines(damaged.output).contains { $0.hasPrefix(#"{"error":"damaged ["#) })
      #expect(try tool.run("export", "Music").status == 1)
    }
  }

  @Test("Encrypted stores are exported and imported with their key")
  func encrypted() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      try Data("secret".utf8).write(to: tool.folder.appendingPathComponent("secret"))
      let key = ["--passphrase-file", "secret"]
      let plain = try tool.run("export", "Library").output
      try Data(plain.utf8).write(to: tool.folder.appendingPathComponent("All.jsonl"))
      let made = try tool.run("import", "Sealed", ["All.jsonl", "--create", "cdb"] + key)
      #expect(made.status == 0)
      #expect(try Set(lines(tool.run("export", "Sealed", key).output)) == Set(lines(plain)))
      #expect(try tool.run("export", "Sealed").status == 1)
    }
  }
}
