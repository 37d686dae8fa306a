import ArgumentParser

@main
struct Jukebox: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jukebox",
    abstract: "Keep a music library as objects in a store.",
    discussion: """
      A library comes in as iTunes wrote it, or as an M3U playlist, and goes out as iTunes reads it. \
      Every command says with --store which directory holds the store; import and create make it.

      Examples:
        jukebox import Library.xml --store Music
        jukebox import "Rainy Sunday.m3u8" --store Music
        jukebox playlists --store Music
        jukebox show "Winter walk" --store Music
        jukebox search dvorak --store Music --json
        jukebox songs --where "time > 10:00 and album != none" --sort artist,-time --store Music
        jukebox create "For Anna" --store Music
        jukebox add "For Anna" "Maple Leaf Rag" "#1436" --store Music
        jukebox move "For Anna" 2 1 --store Music
        jukebox undo --store Music
        jukebox export Library.xml --store Music
        jukebox watch Library.xml --store Music

      A playlist is named by its name, or by # and its ID where two have the same name: "#5080". So \
      is a song, by its exact title or its ID. Where an ID and a name could both be meant, it is \
      the ID; a playlist that is really called "#5" has an ID of its own, which always reaches it. \
      Positions count from 1.
      """,
    subcommands: [
      ImportCommand.self, PlaylistsCommand.self, ShowCommand.self, SongsCommand.self,
      SearchCommand.self, CreateCommand.self, AddCommand.self, MoveCommand.self,
      RemoveCommand.self, DeleteSongCommand.self, UndoCommand.self, RedoCommand.self,
      ExportCommand.self, WatchCommand.self,
    ])
}
