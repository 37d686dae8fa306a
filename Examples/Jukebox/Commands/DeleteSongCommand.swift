import ArgumentParser
import StoredObjects

struct DeleteSongCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete-song", abstract: "Delete a song from the library and all playlists.")

  @Argument(help: "The song, by its exact title or by #ID.")
  var song: String

  @OptionGroup var options: StoreOptions

  func run() throws {
    let (title, count) = try options.edit("delete \(quoted(song))") { library in
      let song = try library.song(song, among: try library.songs())
      let before = (song.title ?? "", song.playlists.count)
      // The delete rule of the relationship removes the song from its playlists.
      library.store.delete(song)
      return before
    }
    try Output.print("Deleted \(quoted(title)); it was in \(counted(count, "playlist")).")
  }
}
