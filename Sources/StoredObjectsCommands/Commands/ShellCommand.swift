import ArgumentParser
import Files
import Foundation
import StoreAddresses
import StoreEngine

struct ShellCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell",
    abstract: "Run commands on a store, line by line.",
    discussion: """
      A line is one of these:

        Song seconds > 200     the objects of a class that satisfy a condition, at most 100
        Song/42                an object
        COMMAND ...            a command of this tool, without the store: schema --format swift
        help                   this list
        exit                   the end, as Control-D

      The store is opened for each line, so programs can save in between. The passphrase of an \
      encrypted store is asked for once. To edit lines, and to find earlier ones again, install \
      rlwrap and run: rlwrap -r stored-objects shell Music

      Without a terminal, lines come from the standard input, and the exit code is 1 if one of them \
      has failed.
      """)

  @OptionGroup var store: StoreArgument

  func run() throws {
    let isServer = try ServerAddress(store.directory) != nil
    RememberedKey.remember(try isServer ? store.key.key() : store.keyIfNeeded())
    if isServer { try store.openAnyForReading().close() }
    let name = store.directory.split(separator: "/").last.map(String.init) ?? store.directory
    var hasFailed = false
    while let line = try nextLine("\(name)> ") {
      do {
        let parsed = try ShellLine(line)
        if parsed == .exit { break }
        if !(try run(parsed)) { hasFailed = true }
      } catch let failure as Failure {
        Self.complain("\(failure)")
        hasFailed = true
      }
    }
    if hasFailed, !isAtTerminal { throw ExitCode(1) }
  }

  private func nextLine(_ prompt: String) throws -> String? {
    if isAtTerminal { try StandardOutput.write(prompt) }
    return readLine()
  }

  /// Runs a line; returns whether it has succeeded.
  private func run(_ line: ShellLine) throws -> Bool {
    switch line {
    case .empty, .exit: return true
    case .help:
      try StandardOutput.write([Self.helpMessage()])
      return true
    case .command(let name, let arguments):
      return try run([name, store.directory] + arguments)
    }
  }

  private func run(_ arguments: [String]) throws -> Bool {
    do {
      var command = try StoredObjectsTool.parseAsRoot(arguments)
      try command.run()
      return true
    } catch {
      let text = StoredObjectsTool.fullMessage(for: error)
      let isHelp = StoredObjectsTool.exitCode(for: error).isSuccess
      if !text.isEmpty {
        if isHelp { try StandardOutput.write([text]) } else { Self.complain(text) }
      }
      return isHelp
    }
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }
}
