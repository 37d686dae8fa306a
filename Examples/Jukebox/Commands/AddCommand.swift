import ArgumentParser

struct AddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add songs at the end of a playlist.",
    discussion: "A playlist can have a song several times.")

  @Argument(help: "The playlist, by its name or by #ID.")
  var playlist: String

  @Argument(help: ArgumentHelp("Songs, each by its exact title or by #ID.", valueName: "song"))
  var songs: [String]

  @OptionGroup var options: StoreOptions

  func run() throws {
    let (name, count) = try options.edit("add to \(quoted(playlist))") { library in
      let playlist = try library.playlist(playlist)
      let all = try library.songs()
      // All songs are looked up before the first one is added.
      let added = try songs.map { try library.song($0, among: all) }
      for song in added { playlist.append(song) }
      return (playlist.name ?? "", playlist.songs.count)
    }
    try Output.print(
      "Added \(counted(songs.count, "song")) to \(quoted(name)), which has \(count) now.")
  }
}
