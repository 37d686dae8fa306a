import ArgumentParser

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move a song within a playlist.",
    discussion: "The songs between the two positions shift by one.")

  @Argument(help: "The playlist, by its name or by #ID.")
  var playlist: String

  @Argument(help: "The position of the song; the first position is 1.")
  var from: Int

  @Argument(help: "The new position of the song.")
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
