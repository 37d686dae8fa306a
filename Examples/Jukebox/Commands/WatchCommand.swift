import ArgumentParser
import StoredObjects

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Import a library in the background, and show its songs as they arrive.",
    discussion: """
      The list has the first songs of the store by artist and title. It is updated while the \
      import saves a few songs at a time. If the output is not a terminal, each change of the list \
      prints a line.

      Songs that were saved before an error stay. "jukebox undo" does not undo this import.
      """)

  @Argument(help: ArgumentHelp("The library to import.", valueName: "file"))
  var file: String

  @Option(help: "The number of songs to show.")
  var rows = 10

  @Option(help: "The number of songs per save.")
  var batch = 50

  @OptionGroup var options: StoreOptions

  func validate() throws {
    if rows < 1 { throw ValidationError("--rows must be 1 or more.") }
    if batch < 1 { throw ValidationError("--batch must be 1 or more.") }
  }

  @MainActor func run() async throws {
    guard case .library(let library) = try MusicFile.read(at: file) else {
      throw Failure("\(quoted(file)) is a playlist. Import it with \"jukebox import\".")
    }
    let container = try options.container(.making(songCount: library.tracks.count))
    let report = try await importing(library, into: container)
    try await container.close()
    for line in report.problems.lines { Output.note("Warning: \(line)") }
    try Output.print(report.summary)
  }

  /// Shows the list on this actor, and imports on another one.
  @MainActor private func importing(
    _ file: LibraryFile, into container: StoreContainer
  ) async throws -> ImportReport {
    let store = try container.makeStore()
    let list = SongList(
      try store.results(
        Song.self, sortedBy: [.ascending(\.artist), .ascending(\.title), .ascending(\.number)]),
      rows: rows)
    let commits = try container.committedChanges()
    let following = Task {
      for await _ in commits {
        store.mergeChanges()
        try list.show()
      }
    }
    defer { following.cancel() }
    let batch = batch
    let report = try await container.makeActor().perform { store in
      var importer = LibraryImporter(Library(store: store))
      let report = try importer.run(file, savingEvery: batch)
      try store.saveChanges()
      return report
    }
    store.mergeChanges()
    try list.show()
    return report
  }
}
