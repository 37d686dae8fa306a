import Foundation
import ProgramTesting
import Testing

@Suite("stored-objects: completions")
struct CompletionToolTests {
  /// Returns what bash offers for the last of some words.
  private func offers(_ tool: ProgramDirectory, _ words: String...) throws -> Set<String> {
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let line = """
      source <(so --generate-completion-script bash) && COMP_WORDS=(stored-objects \(list)) \
      COMP_CWORD=\(words.count) COMP_LINE="stored-objects \(words.joined(separator: " "))" && \
      COMP_POINT=${#COMP_LINE} && compopt() { :; } && \
      _stored-objects stored-objects '\(words[words.count - 1])' stored-objects; \
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let run = try tool.shell(line)
    #expect(run.errors == "")
    return Set(run.output.split(whereSeparator: \.isWhitespace).map(String.init))
  }

  @Test("bash completes commands and options")
  func bash() throws {
    try ProgramDirectory.run { tool in
      try #expect(offers(tool, "br") == ["browse"])
      try #expect(offers(tool, "ex") == ["export"])
      try #expect(offers(tool, "top", "--inter") == ["--interval"])
      try #expect(offers(tool, "nothing") == [])
      try #expect(offers(tool, "").isSuperset(of: ["query", "get", "set", "check", "import-ytk"]))
    }
  }

  @Test("The scripts of all shells have all commands, and no errors", arguments: ["zsh", "fish"])
  func scripts(_ shell: String) throws {
    try ProgramDirectory.run { tool in
      let script = try tool.run("--generate-completion-script", shell)
      let help = try tool.run("--help").output
      let list = help.components(separatedBy: "SUBCOMMANDS:\n").last?.split(separator: "\n") ?? []
      // A command is indented by two spaces, and the rest of its description by more.
      let commands = list.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
        .compactMap { $0.split(separator: " ").first }.filter { $0.first?.isLowercase == true }
      #expect(script.status == 0 && commands.count > 25)
      for command in commands { #expect(script.output.contains(command), "\(command)") }
      guard let program = InstalledProgram(shell) else { return }
      try Data(script.output.utf8).write(to: tool.folder.appendingPathComponent("script"))
      try #expect(program.run(["-n", tool.path("script")]).status == 0)
    }
  }
}
