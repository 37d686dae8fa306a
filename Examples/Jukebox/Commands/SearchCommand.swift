import ArgumentParser
import StoredObjects

struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Find songs by a part of their title, artist or album.",
    discussion: "Case and accents do not matter: \"dvorak\" finds Dvořák.")

  @Argument(help: "What to look for; several words count as one text.")
  var text: [String]

  @OptionGroup var options: StoreOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let wanted = text.joined(separator: " ")
    let found = try options.read { try find(wanted, in: $0) }
    if found.isEmpty { Output.note("No song has \(quoted(wanted)) in its title, artist or album.") }
    if json || !found.isEmpty { try TrackTable.print(found, asJSON: json) }
  }

  private func find(_ wanted: String, in library: Library) throws -> [Track] {
    let search = Search(wanted)
    var found: [Song] = []
    // One by one: of a library of any size, only what matches stays in memory.
    try library.store.enumerate(Song.self) { song, _ in
      if search.matches(song) { found.append(song) }
    }
    return found.sorted { $0.rowID < $1.rowID }.map { Track($0) }
  }
}
