import ArgumentParser
import StoredObjects

struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Find songs by words in their title, artist or album.",
    discussion: """
      Case and accents do not matter: "dvorak" finds Dvořák. A song matches if it has all words, \
      each at the beginning of a word. The best match comes first.

      choice*, *oice and *hoic* find the beginning, the end and any part of a word. "cello suite" \
      in quotation marks finds consecutive words. You can use AND, OR, NOT and parentheses.
      """)

  @Argument(help: "The words to search for.")
  var text: [String]

  @OptionGroup var options: StoreOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let wanted = text.joined(separator: " ")
    let found = try options.read { try $0.search(wanted).map { Track($0) } }
    if found.isEmpty { Output.note("No song has \(quoted(wanted)) in its title, artist or album.") }
    if json || !found.isEmpty { try TrackTable.print(found, asJSON: json) }
  }
}
