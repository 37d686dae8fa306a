import ArgumentParser

struct AddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add songs at the end of a playlist.",
    discussion: "A song may be in a playlist any number of times.")

  @Argument(help: "The playlist, by its name or by #ID.")
  var playlist: String

  @Argument(help: ArgumentHelp("Songs, each by its exact title or by #ID.", valueName: "song"))
  var songs: [String]

  @OptionGroup var options: StoreOptions

  func run() throws {
    let (name, count) = try options.edit("add to \(quoted(playlist))") { library in
      let playlist = try library.playlist(playlist)
      let all = try library.songs()
      // All are looked up before any is added; and nothing is saved when one is not found.
      let added = try songs.map { try library.song($0, among: all) }
      for song in added { playlist.append(song) }
      return (playlist.name ?? "", playlist.songs.count)
    }
    try Output.print(
      "Added \(counted(songs.count, "song")) to \(quoted(name)), which has \(count) now.")
  }
}
