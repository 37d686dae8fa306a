import ArgumentParser
import Foundation
import KeyValueStore

@main
struct Notebook: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notebook",
    abstract: "Keep notes in a key-value store.",
    discussion: """
      The notes are stored in the user's data directory, or in the directory of --store.

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

/// A note in the store.
struct Note: Codable {
  var text: String
  var tags: [String] = []
}

/// An error message for the user of the command line.
struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// Returns the line of a note in a list.
func line(_ item: KeyValueItem) throws -> String {
  let note = try item.decoded(as: Note.self)
  let tags = note.tags.map { " #\($0)" }.joined()
  return "\(item.updatedAt.formatted(.iso8601.year().month().day()))  \(item.key)\(tags)"
}
