import ArgumentParser

struct SongsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "songs", abstract: "List all songs, in the order in which they came in.")

  @OptionGroup var options: StoreOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let tracks = try options.read { try $0.songs().map { Track($0) } }
    try TrackTable.print(tracks, asJSON: json)
  }
}
