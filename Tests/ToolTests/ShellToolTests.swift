import Foundation
import ProgramTesting
import Testing

@Suite("stored-objects: shell")
struct ShellToolTests {
  /// Runs the lines of a text in the shell.
  private func run(_ lines: String, _ tool: ProgramDirectory) throws -> ProgramRun {
    try Data(lines.utf8).write(to: URL(filePath: tool.path("lines")))
    return try tool.shell("so shell Library < lines")
  }

  @Test("Lines are classes with conditions, objects, and commands, up to exit")
  func lines() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let lines = """
        # A comment
        Artist
          Artist name != ""
        Artist/2
        set Artist/2 name='a "b"  c' --json
        query Artist --where "name = 'a \\"b\\"  c'" --count
        get Artist/2 --property name
        exit
        info
        """
      let run = try run(lines, tool)
      #expect(run.status == 0 && run.errors == "")
      let object = "Artist/2\n  name: \"\"\n"
      #expect(run.output.hasPrefix(object + object + "{"))
      #expect(run.output.hasSuffix("}\n1\na \"b\"  c\n"))
    }
  }

  @Test("A line that fails is explained, and the next ones run")
  func failures() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let run = try run("Nothing\nencrypt\nquery 'a\nquery Artist --nonsense\nArtist", tool)
      #expect(run.status == 1)
      #expect(run.output == "Artist/2\n  name: \"\"\n")
      for text in [
        "There is no class", "can't be used in the shell", "A quotation mark", "--nonsense",
      ] {
        #expect(run.errors.contains(text), "\(text)")
      }
      let help = try self.run("help\nquery --help\n", tool)
      #expect(help.status == 0 && help.errors == "")
      #expect(help.output.contains("rlwrap") && help.output.contains("--explain"))
      let missing = try tool.run("shell", "Nowhere")
      #expect(missing.status == 1 && missing.errors.contains("There is no directory"))
    }
  }

  @Test(
    "At a terminal, the passphrase of a store is asked for once",
    .enabled(if: FileManager.default.isExecutableFile(atPath: TerminalSession.script)))
  func passphrase() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      try Data("open sesame".utf8).write(to: URL(filePath: tool.path("phrase")))
      try #require(try tool.run("encrypt", "Music", ["--passphrase-file", "phrase"]).status == 0)
      let session = try TerminalSession(tool, "shell Music").answer(
        [
          ("Passphrase: ", "open sesame"), ("Music> ", "Song"), ("Music> ", "check"),
          ("Music> ", "exit"),
        ])
      #expect(session.status == 0)
      #expect(session.output.components(separatedBy: "Passphrase: ").count == 2)
      #expect(session.output.contains("Song/2") && !session.output.contains("sesame"))
    }
  }
}
