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
    let tracks = try options.read { library in
      try library.songs(of: try library.playlist(playlist)).map { Track($0) }
    }
    try TrackTable.print(tracks, asJSON: json, withPositions: true)
  }
}
