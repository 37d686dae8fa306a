package import ArgumentParser
package import StoreAddresses

/// The program.
package struct Jukebox: AsyncParsableCommand {
  /// Creates the program for the argument parser.
  package init() {}

  /// The name of the program and its help.
  package static let configuration = CommandConfiguration(
    commandName: "jukebox",
    abstract: "Keep a music library as objects in a store.",
    discussion: """
      Imports libraries of iTunes and M3U playlists, and exports in the format of iTunes. Each \
      command needs --store with the directory of the store, or with the URL of one on a \
      PostgreSQL server: postgresql://HOST/DATABASE#STORE. import, watch and create make a new one.

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
        jukebox import Library.xml --store "postgresql://db.example/music#Music"

      You name a playlist by its name, or by # and its ID if two have the same name: "#5080". You \
      name a song by its exact title or its ID. If "#5" is both an ID and a name, it is the ID. \
      Positions count from 1.
      """,
    subcommands: [
      ImportCommand.self, PlaylistsCommand.self, ShowCommand.self, SongsCommand.self,
      SearchCommand.self, CreateCommand.self, AddCommand.self, MoveCommand.self,
      RemoveCommand.self, DeleteSongCommand.self, UndoCommand.self, RedoCommand.self,
      ExportCommand.self, WatchCommand.self,
    ])
}

extension Jukebox {
  /// Runs the program with the arguments of the process.
  ///
  /// - Parameter opener: Opens stores on servers; nil in the program that can't. It passes a command
  ///   for such a store to jukebox-postgresql.
  package static func start(openingServers opener: ServerStores.Opener? = nil) async {
    do {
      try ServerStores.use(
        opener, arguments: Array(CommandLine.arguments.dropFirst()),
        or: .postgreSQL("jukebox-postgresql"))
    } catch { exit(withError: error) }
    await main()
  }
}
