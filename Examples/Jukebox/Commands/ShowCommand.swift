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
    let songs = try options.read { try $0.songs(of: try $0.playlist(playlist)) }
    try SongList.print(songs, asJSON: json, withPositions: true)
  }
}
