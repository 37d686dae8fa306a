import ArgumentParser

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a song from a playlist.",
    discussion: "The song stays in the library and at all other positions in playlists.")

  @Argument(help: "The playlist, by its name or by #ID.")
  var playlist: String

  @Argument(help: "The position of the song; the first position is 1.")
  var position: Int

  @OptionGroup var options: StoreOptions

  func run() throws {
    let (title, name) = try options.edit("remove from \(quoted(playlist))") { library in
      let playlist = try library.playlist(playlist)
      let songs = try library.songs(of: playlist)
      let index = try playlist.index(position)
      playlist.remove(at: index)
      return (songs[index].title ?? "", playlist.name ?? "")
    }
    try Output.print("Removed \(quoted(title)) from \(quoted(name)).")
  }
}
