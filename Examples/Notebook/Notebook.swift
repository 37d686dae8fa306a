import ArgumentParser
import Foundation
import KeyValueStore

@main
struct Notebook: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notebook",
    abstract: "Keep notes in a key-value store.",
    discussion: """
      The notes lie in the user's data directory, or where --store says.

      Examples:
        notebook add "Groceries" "Milk, bread" --tag home
        notebook add "Parking" "Level 3" --days 1
        notebook list --tag home
        notebook search milk
        notebook show Groceries
        notebook delete Groceries
        notebook add Diary "..." --store Secret --passphrase-file phrase.txt
      """,
    subcommands: [
      AddCommand.self, ListCommand.self, ShowCommand.self, SearchCommand.self, DeleteCommand.self,
    ])
}

/// A note, as it is put.
struct Note: Codable {
  var text: String
  var tags: [String] = []
}

/// What can't be done, in words for the person at the terminal.
struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// A line for a note in a list.
func line(_ item: KeyValueItem) throws -> String {
  let note = try item.decoded(as: Note.self)
  let tags = note.tags.map { " #\($0)" }.joined()
  return "\(item.updatedAt.formatted(.iso8601.year().month().day()))  \(item.key)\(tags)"
}
