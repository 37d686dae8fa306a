import ArgumentParser

struct ShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the songs of a playlist, in order.")

  @Argument(help: "The playlist, by its name or by #ID.")
  var playlist: String

  @OptionGroup var options: StoreOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try options.read { library in
      let songs = try library.songs(of: try library.playlist(playlist))
      try SongList.print(songs, asJSON: json, withPositions: true)
    }
  }
}
