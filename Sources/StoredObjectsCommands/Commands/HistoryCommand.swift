import ArgumentParser
import StoredObjectsCore

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Begin, shorten or end the history of a store, or show since when there is one.",
    discussion: """
      A store with a history keeps, with each commit, what was there before. log shows it.
      """)

  @OptionGroup var store: StoreArgument
  @Flag(help: "Remember all commits from now on.") var begin = false
  @Option(help: "Forget all commits up to and with this number.") var purge: UInt64?
  @Flag(help: "Forget all commits, and remember no more of them.") var end = false
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if [begin, purge != nil, end].count(where: { $0 }) > 1 {
      throw ValidationError("Give one of --begin, --purge and --end.")
    }
  }

  func run() throws {
    let isChanging = begin || purge != nil || end
    let backend = try isChanging ? store.openAnyForWriting() : store.openAnyForReading()
    if begin { try backend.beginHistory() }
    if let purge { try backend.purgeHistory(through: purge) }
    if end { try backend.endHistory() }
    let state = HistoryState(
      after: try backend.historyStart(), lastCommit: backend.lastCommitNumber)
    try backend.close()
    try output.write(state) { [state.line] }
  }
}

/// The report of `history`.
struct HistoryState: Encodable {
  /// The last commit before the remembered ones; absent without a history.
  var after: UInt64?
  var lastCommit: UInt64

  var line: String {
    guard let after else { return "The store keeps no history." }
    return "The store remembers its commits from \(after + 1) on; the last one is \(lastCommit)."
  }
}
