import ArgumentParser
import Foundation
import RecordBrowsing
import StoredObjectsCore

struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Print the objects of a class that satisfy a condition.",
    discussion: """
      A condition compares properties with values, and joins comparisons by and, or, not and \
      parentheses:

        title starts with "Prelude" and not (seconds < 200 or album = none)

      The operators are = != < <= > >= in, contains, and starts with. A date is written as \
      2026-11-25 or 2026-11-25T18:30:00Z, a reference as Album/7, and no value as none. id is the \
      row ID. Indexes are used where the store has them. With --json, each object is a line of JSON.
      """)

  @OptionGroup var store: ReadStoreArgument
  @Argument(help: "The class.") var className: String
  @Option(name: .customLong("where"), help: "The condition; all objects by default.")
  var condition: String?
  @Option(
    parsing: .unconditional,
    help: "The property to sort by; with a minus in front, the last object comes first.")
  var sort: String?
  @Option(help: "The maximum number of objects.") var limit: Int?
  @Flag(help: "Print only the number of objects.") var count = false
  @Flag(help: "Print how the objects are found, to the standard error.") var explain = false
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be above 0.") }
  }

  func run() throws {
    let backend = try store.open()
    let state = try BrowsedState(backend)
    var found = 0
    try forEachPage(of: state) { page in
      for (row, record) in zip(page.rows, page.records) {
        found += 1
        guard !count else { continue }
        guard let record else {
          throw Failure(
            description: "\(row.id) is damaged: \(row.damage ?? ""). Salvage the store.")
        }
        try ObjectLines.write(row.id, try state.values(of: record), isJSON: output.json)
      }
      return found
    }
    if count { try StandardOutput.write([output.json ? #"{"count":\#(found)}"# : "\(found)"]) }
    try backend.close()
  }

  private func forEachPage(
    of state: BrowsedState, _ body: (BrowsedPage) throws -> Int
  ) throws {
    var query = BrowsedQuery(className)
    (query.condition, query.time) = (condition, .seconds(3600))
    query.isDescending = sort?.hasPrefix("-") ?? false
    query.order = sort.map { query.isDescending ? String($0.dropFirst()) : $0 }
    var found = 0
    repeat {
      query.limit = min(500, (limit ?? .max) - found)
      let page = try state.page(query)
      if explain, query.cursor == nil {
        FileHandle.standardError.write(Data("by \(page.plan)\n".utf8))
      }
      found = try body(page)
      query.cursor = page.cursor
    } while query.cursor != nil && found < limit ?? .max
  }
}
