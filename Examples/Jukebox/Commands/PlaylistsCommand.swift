import ArgumentParser

struct PlaylistsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "playlists", abstract: "List the playlists, in the order of the library.")

  @OptionGroup var options: StoreOptions

  @Flag(help: "Print JSON: every playlist with all of its tracks.")
  var json = false

  func run() throws {
    let playlists = try options.read { library in
      // All songs in one pass over their file; the playlists then find them in memory.
      let songs = try library.songs()
      defer { withExtendedLifetime(songs) {} }
      let playlists = try library.playlists()
      for playlist in playlists { _ = try library.songs(of: playlist) }
      return playlists
    }
    guard json else { return try Output.print(table(playlists).lines) }
    try Output.printJSON(playlists.map(PlaylistJSON.init))
  }

  private func table(_ playlists: [Playlist]) -> Table {
    var table = Table(
      .init(title: "ID", isNumeric: true), .init(title: "Songs", isNumeric: true),
      .init(title: "Time", isNumeric: true), .init(title: "Name"))
    for playlist in playlists {
      let seconds = playlist.songs.lazy.map(\.seconds).clampedSum
      table.add(
        "#\(playlist.number)", "\(playlist.songs.count)", duration(seconds), playlist.name ?? "")
    }
    return table
  }
}
