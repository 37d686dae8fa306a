import Foundation
import ProgramTesting
import Testing

@Suite("The tool with encrypted stores")
struct EncryptedToolTests {
  private func write(_ text: String, to name: String, _ tool: ProgramDirectory) throws {
    try Data(text.utf8).write(to: tool.folder.appendingPathComponent(name))
  }

  /// Two keys in hex, and a store that is encrypted with the first.
  private func withStore(_ body: (ProgramDirectory) throws -> Void) throws {
    try ProgramDirectory.run { tool in
      try write(String(repeating: "0a", count: 32) + "\n", to: "key", tool)
      try write(String(repeating: "0b", count: 32), to: "other", tool)
      try tool.makeStore(["Für Elise"], pending: ["pending"])
      #expect(try tool.run("encrypt", "Music", "--key-file", "key").status == 0)
      try body(tool)
    }
  }

  @Test("Every command that reads accepts the key, and shows nothing without it")
  func reading() throws {
    try withStore { tool in
      for command in ["info", "check", "dump"] {
        let run = try tool.run(command, "Music", "--key-file", "key")
        #expect(run.status == 0)
        #expect(run.output.contains("Song"))
        for options in [[], ["--key-file", "other"]] {
          let refused = try tool.run(command, "Music", options)
          #expect(refused.status == 1)
          #expect(refused.errors.contains(options.isEmpty ? "encrypted" : "wrongKey"))
          #expect(!refused.output.contains("Song"))
        }
      }
      let dump = try tool.run("dump", "Music", "--key-file", "key")
      #expect(dump.output.contains("70656e64696e67"))
    }
  }

  @Test("Backup, salvage, convert, compact and checkpoint work with the key")
  func copying() throws {
    try withStore { tool in
      let key = ["--key-file", "key"]
      #expect(try tool.run("checkpoint", "Music", key).status == 0)
      #expect(try tool.run("compact", "Music", key).status == 0)
      #expect(try tool.run("backup", "Music", ["Copy"] + key).status == 0)
      #expect(try tool.run("salvage", "Music", ["Saved"] + key).status == 0)
      #expect(try tool.run("convert", "Music", ["CDB", "--backend", "cdb"] + key).status == 0)
      for copy in ["Copy", "Saved", "CDB"] {
        #expect(try tool.run("check", copy, key).status == 0)
        let refused = try tool.run("check", copy)
        #expect(refused.errors.contains("encrypted"))
        #expect(try tool.contents(copy).contains("Commit.key"))
      }
    }
  }

  @Test("A changed key opens the store, and decrypting restores its files")
  func changing() throws {
    try withStore { tool in
      let change = try tool.run(
        "change-passphrase", "Music", ["--key-file", "key", "--new-key-file", "other"])
      #expect(change.status == 0)
      #expect(try tool.run("check", "Music", ["--key-file", "key"]).status == 1)
      #expect(try tool.run("decrypt", "Music", ["--key-file", "key"]).status == 1)
      #expect(try tool.run("decrypt", "Music", ["--key-file", "other"]).status == 0)
      #expect(try tool.titles(in: "Music") == ["Für Elise", "pending"])
      #expect(try tool.contents("").filter { $0.hasPrefix("Music") } == ["Music"])
    }
  }

  @Test("A passphrase is read from a file; an invalid key, two of them, or none are refused")
  func passphrases() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      try write("correct horse\nbattery", to: "phrase", tool)
      try write("", to: "empty", tool)
      try write("0a0b", to: "short", tool)
      #expect(try tool.run("encrypt", "Music").status == 64)
      #expect(try tool.run("encrypt", "Music", ["--passphrase-file", "empty"]).status == 1)
      #expect(try tool.run("encrypt", "Music", ["--passphrase-file", "nowhere"]).status == 1)
      #expect(
        try tool.run("encrypt", "Music", ["--passphrase-env", "NOT_SET_ANYWHERE"]).status == 1)
      #expect(try tool.run("encrypt", "Music", ["--key-file", "short"]).status == 1)
      #expect(
        try tool.run(
          "check", "Music", ["--key-file", "short", "--passphrase-file", "phrase"]
        ).status == 64)
      #expect(try tool.run("encrypt", "Music", ["--passphrase-file", "phrase"]).status == 0)
      try write("correct horse", to: "phrase", tool)
      #expect(try tool.run("check", "Music", ["--passphrase-file", "phrase"]).status == 0)
    }
  }

  @Test(
    "A passphrase typed at a terminal is not shown, and a new one is asked for twice",
    .enabled(if: FileManager.default.isExecutableFile(atPath: TerminalSession.script)))
  func typing() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      let differing = try TerminalSession(tool, "encrypt Music").answer(
        [("Passphrase: ", "open sesame"), ("again: ", "open sesam")])
      #expect(differing.status == 1)
      #expect(differing.output.contains("two passphrases"))
      #expect(try tool.run("check", "Music").status == 0)
      let run = try TerminalSession(tool, "encrypt Music").answer(
        [("Passphrase: ", "open sesame"), ("again: ", "open sesame")])
      #expect(run.status == 0)
      #expect(!run.output.contains("sesame") && !differing.output.contains("sesam"))
      try write("open sesame", to: "phrase", tool)
      #expect(try tool.run("check", "Music", ["--passphrase-file", "phrase"]).status == 0)
      let check = try TerminalSession(tool, "check Music --passphrase-file -").answer(
        [("Passphrase: ", "open sesame")])
      #expect(check.status == 0 && !check.output.contains("sesame"))
    }
  }
}
