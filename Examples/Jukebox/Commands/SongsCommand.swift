import ArgumentParser

struct SongsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "songs", abstract: "List all songs, in the order in which they came in.")

  @OptionGroup var options: StoreOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try options.read { try SongList.print(try $0.songs(), asJSON: json) }
  }
}
