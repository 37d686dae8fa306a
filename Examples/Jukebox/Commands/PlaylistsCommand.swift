import ArgumentParser

struct PlaylistsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "playlists", abstract: "List the playlists, in the order of the library.")

  @OptionGroup var options: StoreOptions

  @Flag(help: "Print JSON: all playlists with all of their tracks.")
  var json = false

  func run() throws {
    let lists = try options.read { library in
      // Reads all songs in one pass over their file, so that the playlists find them in memory.
      let songs = try library.songs()
      defer { withExtendedLifetime(songs) {} }
      let playlists = try library.playlists()
      for playlist in playlists { _ = try library.songs(of: playlist) }
      return playlists.map(TrackList.init)
    }
    try json ? Output.printJSON(lists) : Output.print(table(lists).lines)
  }

  private func table(_ lists: [TrackList]) -> Table {
    var table = Table(
      .init(title: "ID", isNumeric: true), .init(title: "Songs", isNumeric: true),
      .init(title: "Time", isNumeric: true), .init(title: "Name"))
    for list in lists {
      let seconds = list.tracks.lazy.map(\.seconds).clampedSum
      table.add("#\(list.id)", "\(list.tracks.count)", duration(seconds), list.name)
    }
    return table
  }
}
