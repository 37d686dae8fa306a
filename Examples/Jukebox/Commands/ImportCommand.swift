import ArgumentParser

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import an iTunes library or an M3U playlist.",
    discussion: """
      A library is a property list in the format of iTunes, XML or binary. Tracks and playlists \
      whose IDs are already in the store are updated. Those that the file does not have stay.

      An .m3u or .m3u8 file becomes one playlist, with the name in the file or the name of the \
      file. Its songs are identified by their location.

      The import saves once: after an error, the store is unchanged.
      """)

  @Argument(help: ArgumentHelp("The file to import.", valueName: "file"))
  var file: String

  @OptionGroup var options: StoreOptions

  func run() throws {
    let progress = ProgressBar.standardError
    progress.begin("Reading")
    defer { progress.end() }
    let report = try importFile(progress)
    progress.end()
    for line in report.problems.lines { Output.note("Warning: \(line)") }
    try Output.print(report.summary)
  }

  private func importFile(_ progress: ProgressBar) throws -> ImportReport {
    // The whole file is read before the store is opened.
    let file = try MusicFile.read(at: file)
    return try options.edit("import \(quoted(self.file))", .making(songCount: file.songCount)) {
      library in
      defer { progress.begin("Saving") }
      switch file {
      case .library(let file):
        var importer = LibraryImporter(library, progress: progress)
        return try importer.run(file)
      case .playlist(let file):
        var importer = try M3UImporter(library, progress: progress)
        return try importer.run(file)
      }
    }
  }
}

extension MusicFile {
  fileprivate var songCount: Int {
    switch self {
    case .library(let file): file.tracks.count
    case .playlist(let file): file.entries.count
    }
  }
}
