import ArgumentParser
import StoredObjects

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Export the library in the format of iTunes.",
    discussion: """
      The file is an XML property list with all tracks and playlists, in order, and with all \
      fields of the imported files. An existing file is replaced when the new one is complete.
      """)

  @Argument(help: ArgumentHelp("The file to write.", valueName: "file"))
  var file: String

  @OptionGroup var options: StoreOptions

  func run() throws {
    let (data, songs, playlists) = try options.read { library in
      let exporter = LibraryExporter(library)
      return (
        try exporter.propertyList(), try library.store.count(of: Song.self),
        try library.store.count(of: Playlist.self)
      )
    }
    try FileWriter.write(data, to: file)
    try Output.print(
      """
      Exported \(counted(songs, "song")) and \(counted(playlists, "playlist")) to \(quoted(file)).
      """)
  }
}
