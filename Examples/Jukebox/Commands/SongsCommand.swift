import ArgumentParser
import StoredObjects

struct SongsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "songs", abstract: "List all songs, or those that match an expression.",
    discussion: """
      Songs are listed in the order in which they were added, or in the order of --sort.

      --where is an expression of comparisons with \(SongAttribute.names), and of and, or, not and \
      parentheses:

        artist = 'Bedřich Smetana' and time >= 3:30
        title starts with "Cello" or album = none
        not (artist in ("Scott Joplin", "Erik Satie") or title contains Rag)

      Comparisons are = != < <= > >= contains, starts with, and in (…, …). A text of several words \
      needs quotation marks of either kind; double the ones inside the text. Case and accents \
      matter, unlike in "jukebox search". A time is 210, 3:30 or 1:03:30. A missing attribute is \
      none, which is neither less nor greater than anything.

      --sort is a list of attributes with commas between them and a minus for descending order: \
      artist,-time. Songs without the attribute come first.
      """)

  @OptionGroup var options: StoreOptions

  @Option(name: .customLong("where"), help: ArgumentHelp("The songs.", valueName: "expression"))
  var condition: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The order of the songs.", valueName: "attributes"))
  var sort: String?

  @Option(help: "The maximum number of songs.")
  var limit: Int?

  @Option(help: "The number of songs to skip.")
  var offset = 0

  @Flag(help: "Print JSON.")
  var json = false

  @Flag(help: "Print the query plan instead of the songs.")
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
    if isNone { Output.note("No song matches.") }
    if json || !isNone { try TrackTable.print(tracks, asJSON: json) }
  }
}
