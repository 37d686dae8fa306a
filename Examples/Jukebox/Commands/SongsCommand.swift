import ArgumentParser

struct SongsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "songs", abstract: "List all songs, in the order in which they came in.")

  @OptionGroup var options: StoreOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let songs = try options.read { try $0.songs() }
    try SongList.print(songs, asJSON: json)
  }
}
