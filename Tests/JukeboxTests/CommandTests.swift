import Foundation
import ProgramTesting
import StoredObjects
import Testing

@Suite("The program")
struct CommandTests {
  private func withProgram(_ body: (ProgramDirectory) throws -> Void) throws {
    let program = try ProgramDirectory()
    defer { program.remove() }
    try body(program)
  }

  private func withSmallLibrary(_ body: (ProgramDirectory) throws -> Void) throws {
    try withProgram { program in
      let run = try program.run("import", program.write(smallLibrary(), "Library.xml"))
      #expect(run.status == 0 && run.errors == "")
      #expect(run.output.hasPrefix("Imported 3 songs (3 new"))
      try body(program)
    }
  }

  struct Track: Decodable, Equatable {
    var id: Int64?
    var title: String
    var artist: String
    var album: String
    var seconds: Int
  }

  struct List: Decodable {
    var name: String
    var tracks: [Track]
  }

  @Test("imports, and lists the result as tables and as JSON")
  func listings() throws {
    try withSmallLibrary { program in
      let lists: [List] = try program.run("playlists", "--json").json()
      #expect(lists.map(\.name) == ["Evening", "Rags"])
      #expect(lists[0].tracks.map(\.title) == ["Greensleeves", "Maple Leaf Rag", "Greensleeves"])
      #expect(lists[0].tracks.map(\.seconds) == [202, 194, 202])
      #expect(try program.run("playlists").output.contains("#20      3  9:58  Evening"))
      let shown: [Track] = try program.run("show", "Evening", "--json").json()
      #expect(shown.map(\.id) == [3, 1, 3])
      let songs: [Track] = try program.run("songs", "--json").json()
      #expect(
        songs[1]
          == Track(id: 2, title: "Vltava", artist: "Bedřich Smetana", album: "Má vlast", seconds: 0)
      )
      let found: [Track] = try program.run("search", "bedrich", "smet", "--json").json()
      #expect(found.map(\.title) == ["Vltava"])
    }
  }

  @Test("lists the songs that match an expression, in an order, and explains the query")
  func songs() throws {
    try withSmallLibrary { program in
      let long: [Track] = try program.run(
        "songs", "--where", "time >= 3:14", "--sort", "-time", "--json"
      ).json()
      #expect(long.map(\.id) == [3, 1])
      let second: [Track] = try program.run(
        "songs", "--sort", "title", "--limit", "1", "--offset", "1", "--json"
      ).json()
      #expect(second.map(\.title) == ["Maple Leaf Rag"])
      let plan = try program.run("songs", "--where", "artist = 'Scott Joplin'", "--explain")
      #expect(plan.output.hasPrefix("by \"artist\", 1 at most"))
      let none = try program.run("songs", "--where", "title = x")
      #expect(none.status == 0 && none.errors == "No song matches.\n")
      #expect(none.output == "")
      let wrong = try program.run("songs", "--where", "title = x y")
      #expect(wrong.status != 0 && wrong.output == "")
      #expect(wrong.errors.contains("At character 11 of the expression: expected \"and\""))
      #expect(try program.run("songs", "--limit", "-1").status != 0)
    }
  }

  @Test("keeps a library in constant databases, and detects the backend")
  func constantDatabases() throws {
    try withProgram { program in
      let library = try program.write(smallLibrary(), "Library.xml")
      #expect(try program.run("import", library, "--backend", "cdb").status == 0)
      let files = try FileManager.default.contentsOfDirectory(atPath: program.path("Music"))
      #expect(files.contains("Song.cdb") && !files.contains("Song"))
      let lists: [List] = try program.run("playlists", "--json").json()
      #expect(lists.map(\.name) == ["Evening", "Rags"])
      #expect(try program.run("create", "Encores").status == 0)
      #expect(try program.run("playlists", "--backend", "tokyo-cabinet").status != 0)
    }
  }

  @Test("reports that nothing was found, with status 0")
  func nothingFound() throws {
    try withSmallLibrary { program in
      let run = try program.run("search", "Brahms", "--json")
      #expect(run.status == 0 && run.output.filter { !$0.isWhitespace } == "[]")
      #expect(run.errors.contains("No song has \"Brahms\""))
    }
  }

  @Test("creates, fills, sorts and thins out a playlist")
  func editing() throws {
    try withSmallLibrary { program in
      #expect(try program.run("create", "Mine").status == 0)
      #expect(try program.run("add", "Mine", "Vltava", "#1", "Vltava", "#3").status == 0)
      #expect(try program.run("move", "Mine", "4", "1").status == 0)
      #expect(try program.run("remove", "Mine", "2").status == 0)
      let shown: [Track] = try program.run("show", "Mine", "--json").json()
      #expect(shown.map(\.title) == ["Greensleeves", "Maple Leaf Rag", "Vltava"])
      #expect(try program.run("delete-song", "Greensleeves").status == 0)
      let lists: [List] = try program.run("playlists", "--json").json()
      #expect(
        lists.map { $0.tracks.map(\.title) } == [
          ["Maple Leaf Rag"], ["Maple Leaf Rag"], ["Maple Leaf Rag", "Vltava"],
        ])
    }
  }

  @Test("undoes the changes of earlier runs one by one, and redoes them")
  func undo() throws {
    try withSmallLibrary { program in
      #expect(try program.run("create", "Mine").status == 0)
      #expect(try program.run("add", "Mine", "Greensleeves", "#1", "Greensleeves").status == 0)
      #expect(try program.run("move", "Mine", "1", "2").status == 0)
      let after: [List] = try program.run("playlists", "--json").json()
      #expect(try program.run("delete-song", "Greensleeves").status == 0)
      let run = try program.run("undo")
      #expect(
        run.output == "Undone: delete \"Greensleeves\". Before that: move in \"Mine\".\n")
      let lists: [List] = try program.run("playlists", "--json").json()
      #expect(lists.map(\.tracks) == after.map(\.tracks) && lists.map(\.name) == after.map(\.name))
      #expect(try program.run("undo").status == 0)
      var mine: [Track] = try program.run("show", "Mine", "--json").json()
      #expect(mine.map(\.title) == ["Greensleeves", "Maple Leaf Rag", "Greensleeves"])
      for _ in 0..<3 { #expect(try program.run("undo").status == 0) }
      let none = try program.run("undo")
      #expect(none.status == 1 && none.errors.contains("There is nothing to undo."))
      let songs: [Track] = try program.run("songs", "--json").json()
      #expect(songs.isEmpty)
      for _ in 0..<4 { #expect(try program.run("redo").output.hasPrefix("Redone: ")) }
      mine = try program.run("show", "Mine", "--json").json()
      #expect(mine.map(\.title) == ["Maple Leaf Rag", "Greensleeves", "Greensleeves"])
      #expect(try program.run("create", "Another").status == 0)
      #expect(try program.run("redo").errors.contains("There is nothing to redo."))
    }
  }

  @Test("changes nothing when one song of several is not found")
  func allOrNothing() throws {
    try withSmallLibrary { program in
      let run = try program.run("add", "Rags", "Vltava", "Nothing")
      #expect(run.status == 1 && run.errors.contains("There is no song \"Nothing\""))
      let shown: [Track] = try program.run("show", "Rags", "--json").json()
      #expect(shown.count == 1)
    }
  }

  @Test(
    "explains errors, with status 1",
    arguments: [
      (["show", "Evenin"], "Did you mean \"Evening\"?"), (["show", "#77"], "no playlist \"#77\""),
      (["move", "Evening", "1", "4"], "positions are from 1 to 3"),
      (["remove", "Evening", "0"], "positions are from 1 to 3"),
      (["delete-song", "#9"], "no song \"#9\""), (["create", "Rags"], "\"Rags\", #10"),
      (["create", ""], "must not be empty"),
      (["import", "/does/not/exist"], "does not exist"), (["import", "/"], "is a directory"),
      (["export", "/does/not/exist/x.xml"], "can't be written"),
    ])
  func failures(_ arguments: [String], _ message: String) throws {
    try withSmallLibrary { program in
      let run = try program.runBare(arguments + ["--store", program.path("Music")])
      #expect(run.status == 1)
      #expect(run.errors.hasPrefix("Error: ") && run.errors.contains(message))
      #expect(run.output == "")
    }
  }

  @Test(
    "explains its usage, with status 64",
    arguments: [
      ["dance"], ["songs", "--loud"], ["move", "A", "one", "2", "--store", "x"], ["songs"],
      ["songs", "--store", "x", "--backend", "memory"], ["add", "Mine", "--store", "x"],
    ])
  func usage(_ arguments: [String]) throws {
    try withProgram { program in
      let run = try program.runBare(arguments)
      #expect(run.status == 64 && run.errors.contains("Usage: jukebox"))
    }
  }

  @Test("leaves no store if there is nothing to read", arguments: ["songs", "playlists"])
  func noStore(_ command: String) throws {
    try withProgram { program in
      let run = try program.run(command)
      #expect(run.status == 1 && run.errors.contains("There is no directory"))
      #expect(!FileManager.default.fileExists(atPath: program.path("Music")))
    }
  }

  @Test("leaves no store if the file can't be read")
  func badFile() throws {
    try withProgram { program in
      let run = try program.run("import", program.write(Data("hello".utf8), "Library.xml"))
      #expect(run.status == 1 && run.errors.contains("not a music library"))
      #expect(!FileManager.default.fileExists(atPath: program.path("Music")))
    }
  }

  @Test("does not change directories that are not stores")
  func foreignDirectory() throws {
    try withProgram { program in
      let music = program.path("Music")
      try FileManager.default.createDirectory(atPath: music, withIntermediateDirectories: true)
      #expect(try program.run("songs").errors.contains("There is no music library in"))
      _ = try program.write(Data("mine".utf8), "Music/letter.txt")
      let run = try program.run("import", program.write(smallLibrary(), "Library.xml"))
      #expect(run.status == 1 && run.errors.contains("\"letter.txt\""))
      #expect(try program.run("delete-song", "#1").errors.contains("There is no music library"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: music) == ["letter.txt"])
    }
  }

  @Test("imports after an interrupted import")
  func interrupted() throws {
    try withProgram { program in
      let music = program.path("Music")
      try FileManager.default.createDirectory(atPath: music, withIntermediateDirectories: true)
      _ = try program.write(Data("half".utf8), "Music/.new.0")
      #expect(try program.run("import", program.write(smallLibrary(), "L.xml")).status == 0)
      #expect(try program.run("songs").status == 0)
    }
  }

  @Test("reports that a file is not a store")
  func fileAsStore() throws {
    try withProgram { program in
      _ = try program.write(Data("mine".utf8), "Music")
      #expect(try program.run("songs").errors.contains("is a file, and a store is a directory"))
    }
  }

  @Test("reports that another process has the store open, and reads at the same time")
  func inUse() throws {
    try withSmallLibrary { program in
      let backend = try TokyoCabinetBackend(directory: program.path("Music"))
      let create = try program.runBare(["create", "Mine", "--store", program.path("Music")])
      #expect(create.status == 1 && create.errors.contains("in use by another process"))
      #expect(try program.run("songs").status == 0)
      try backend.close()
      #expect(try program.run("songs").status == 0)
    }
  }

  @Test("waits for other commands that change the same store, and reads at the same time")
  func atOnce() throws {
    try withSmallLibrary { program in
      let commands = (0..<4).map { ["create", "List \($0)"] } + [["songs"], ["playlists"]]
      let runs = try program.runAtOnce(
        "jukebox", commands.map { $0 + ["--store", program.path("Music")] })
      #expect(runs.map(\.errors) == Array(repeating: "", count: 6))
      #expect(runs.allSatisfy { $0.status == 0 })
      let lists: [List] = try program.run("playlists", "--json").json()
      #expect(
        lists.map(\.name).sorted()
          == ["Evening", "List 0", "List 1", "List 2", "List 3", "Rags"])
    }
  }

  @Test("reports the number of items whose track is missing")
  func danglingItems() throws {
    try withProgram { program in
      let data = try propertyList(
        tracks: ["1": track(1, "A")], playlists: [playlist(1, "B", [1, 2, 3])])
      let run = try program.run("import", program.write(data, "Library.xml"))
      #expect(run.status == 0 && run.errors.contains("Left out 2 playlist items"))
    }
  }

  @Test("has a help text")
  func help() throws {
    try withProgram { program in
      let run = try program.runBare(["--help"])
      #expect(run.status == 0)
      for word in ["import", "delete-song", "Examples:", "Positions count from 1"] {
        #expect(run.output.contains(word))
      }
    }
  }
}
