import ArgumentParser
import StoredObjects

struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Find songs by a part of their title, artist or album.",
    discussion: "Case and accents do not matter: \"dvorak\" finds Dvořák.")

  @Argument(help: "What to look for.")
  var text: String

  @OptionGroup var options: StoreOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try options.read { library in
      let search = Search(text)
      var found: [Song] = []
      // One by one: of a library of any size, only what matches stays in memory.
      try library.store.enumerate(Song.self) { song, _ in
        if search.matches(song) { found.append(song) }
      }
      found.sort { $0.rowID < $1.rowID }
      if found.isEmpty { Output.note("No song has \(quoted(text)) in its title, artist or album.") }
      if json || !found.isEmpty { try SongList.print(found, asJSON: json) }
    }
  }
}
