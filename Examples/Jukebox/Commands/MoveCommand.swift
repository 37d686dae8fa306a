import ArgumentParser

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move a song within a playlist.",
    discussion: "Afterwards the song is at the second position; the others close up.")

  @Argument(help: "The playlist, by its name or by #ID.")
  var playlist: String

  @Argument(help: "Where the song is; the first position is 1.")
  var from: Int

  @Argument(help: "Where the song shall be.")
  var to: Int

  @OptionGroup var options: StoreOptions

  func run() throws {
    let (title, name) = try options.edit("move in \(quoted(playlist))") { library in
      let playlist = try library.playlist(playlist)
      let songs = try library.songs(of: playlist)
      let (index, newIndex) = (try playlist.index(from), try playlist.index(to))
      playlist.move(from: index, to: newIndex)
      return (songs[index].title ?? "", playlist.name ?? "")
    }
    try Output.print("Moved \(quoted(title)) from \(from) to \(to) in \(quoted(name)).")
  }
}
