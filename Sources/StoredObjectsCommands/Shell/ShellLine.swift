import ArgumentParser
import Foundation
import RecordBrowsing

/// A line of the shell: a command of the tool, an object, or a class with a condition.
enum ShellLine: Equatable {
  case empty
  case exit
  case help
  /// A command, and its arguments after the store.
  case command(String, arguments: [String])

  /// The number of objects that a class with a condition prints.
  static let limit = 100

  /// Parses a line.
  ///
  /// - Throws: ``Failure`` for a quotation mark without a second one, and for a command that has no
  ///   place in the shell.
  init(_ line: String) throws {
    let line = line.trimmingPrefix(while: \.isWhitespace)
    let first = String(line.prefix { !$0.isWhitespace })
    let rest = line.dropFirst(first.count).drop(while: \.isWhitespace)
    switch first {
    case "", "#": self = .empty
    case "exit", "quit", ".exit", ".quit": self = .exit
    case "help", "?", ".help": self = .help
    case let name where ShellCommands.names.contains(name):
      self = .command(name, arguments: try Self.words(rest))
    case let name where ShellCommands.others.contains(name):
      throw Failure(description: "\(name) can't be used in the shell. Run stored-objects \(name).")
    default: self = Self.search(first, rest)
    }
  }

  private static func search(_ first: String, _ rest: Substring) -> ShellLine {
    let condition = rest.trimmingCharacters(in: .whitespacesAndNewlines)
    if condition.isEmpty, ObjectAddress(first) != nil { return .command("get", arguments: [first]) }
    let limit = ["--limit", "\(Self.limit)"]
    let filter = condition.isEmpty ? [] : ["--where", condition]
    return .command("query", arguments: [first] + filter + limit)
  }

  /// Returns the words of a text; quotation marks of either kind keep spaces.
  static func words(_ text: Substring) throws -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        if let finished = word { words.append(finished) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if quote != nil || isEscaped {
      throw Failure(description: "A quotation mark or an escaped character is missing at the end.")
    }
    return words + (word.map { [$0] } ?? [])
  }
}

/// The commands of the tool, as the shell knows them.
enum ShellCommands {
  /// The commands whose first argument is a store, which the shell fills in.
  private static let types: [any ParsableCommand.Type] = [
    QueryCommand.self, GetCommand.self, SetCommand.self, InfoCommand.self, SchemaCommand.self,
    CheckCommand.self, TopCommand.self, BrowseCommand.self, BackupCommand.self, CompactCommand.self,
    CheckpointCommand.self, DumpCommand.self, ExportCommand.self, ImportCommand.self,
    ConvertCommand.self, LogCommand.self, DiffCommand.self, HistoryCommand.self, StreamCommand.self,
  ]

  static let names = Set(types.compactMap { $0.configuration.commandName })
  static let others = Set(
    StoredObjectsTool.configuration.subcommands.compactMap { $0.configuration.commandName }
  ).subtracting(names)
}
