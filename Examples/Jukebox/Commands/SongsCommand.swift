import ArgumentParser
import StoredObjects

struct SongsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "songs", abstract: "List songs: all of them, or those that you ask for.",
    discussion: """
      They come in the order in which they came in, unless --sort says another.

      --where takes comparisons of \(SongAttribute.names), with and, or, not and parentheses between them:

        artist = 'Bedřich Smetana' and time >= 3:30
        title starts with "Cello" or album = none
        not (artist in ("Scott Joplin", "Erik Satie") or title contains Rag)

      Comparisons are = != < <= > >= contains, starts with, and in (…, …). A text of several words stands in \
      quotation marks, of either kind, which are doubled inside. Case and accents count, unlike in \
      "jukebox search". A time is 210, 3:30 or 1:03:30. What a song does not have is none, and neither \
      less nor greater than anything.

      --sort takes attributes with commas between them, with a minus before each that begins with the \
      greatest: artist,-time. What is none comes first.
      """)

  @OptionGroup var options: StoreOptions

  @Option(name: .customLong("where"), help: ArgumentHelp("Which songs.", valueName: "expression"))
  var condition: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("In which order.", valueName: "attributes"))
  var sort: String?

  @Option(help: "How many songs at the most.")
  var limit: Int?

  @Option(help: "How many are passed over first.")
  var offset = 0

  @Flag(help: "Print JSON.")
  var json = false

  @Flag(help: "Print how the store finds them, and not the songs.")
  var explain = false

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit can't be negative.") }
    if offset < 0 { throw ValidationError("--offset can't be negative.") }
  }

  func run() throws {
    let query = SongQuery(condition: condition, order: sort, limit: limit, offset: offset)
    if explain {
      let plan = try options.read { try query.plan(in: $0).description }
      return try Output.print(plan.forTerminal)
    }
    let isPlain = condition == nil && sort == nil && limit == nil && offset == 0
    let tracks = try options.read { library in
      try (isPlain ? library.songs() : query.songs(in: library)).map { Track($0) }
    }
    let isNone = tracks.isEmpty && condition != nil
    if isNone { Output.note("No song is so.") }
    if json || !isNone { try TrackTable.print(tracks, asJSON: json) }
  }
}
