import ArgumentParser
import StoredObjectsCore

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Begin, shorten or end the history of a store, or show since when there is one.",
    discussion: """
      A store with a history keeps, with each commit, what was there before. log shows it.

      --keep-days and --keep-megabytes forget the oldest commits, but for those that a consumer has \
      not seen. A program makes itself known as a consumer, or --seen-by does: --seen-by search --seen \
      42.
      """)

  @OptionGroup var store: StoreArgument
  @Flag(help: "Remember all commits from now on.") var begin = false
  @Option(help: "Forget all commits up to and with this number.") var purge: UInt64?
  @Option(help: "Forget all commits that are older than so many days.") var keepDays: Double?
  @Option(help: "Forget the oldest commits until the entries take so many megabytes at most.")
  var keepMegabytes: Double?
  @Option(help: "A program that reads the history: --keep options wait for it.") var seenBy: String?
  @Option(help: "The last commit that this program has seen; without it, the program is forgotten.")
  var seen: UInt64?
  @Flag(help: "Forget all commits, and remember no more of them.") var end = false
  @OptionGroup var output: OutputOptions

  func validate() throws {
    let isKeeping = keepDays != nil || keepMegabytes != nil
    if [begin, purge != nil, isKeeping, seenBy != nil, end].count(where: { $0 }) > 1 {
      throw ValidationError("Give one of --begin, --purge, --keep-…, --seen-by and --end.")
    }
    if seen != nil, seenBy == nil { throw ValidationError("--seen goes with --seen-by.") }
    if [keepDays, keepMegabytes].contains(where: { $0.map { !(0...1e9).contains($0) } ?? false }) {
      throw ValidationError("Days and megabytes are numbers from 0.")
    }
  }

  /// The part of the history to keep; nil if no option sets it.
  private var retention: HistoryRetention? {
    if keepDays == nil, keepMegabytes == nil { return nil }
    return HistoryRetention(
      age: keepDays.map { .seconds($0 * 86_400) }, byteCount: keepMegabytes.map { Int($0 * 1e6) })
  }

  func run() throws {
    let isChanging = begin || purge != nil || retention != nil || seenBy != nil || end
    let backend = try isChanging ? store.openAnyForWriting() : store.openAnyForReading()
    if begin { try backend.beginHistory() }
    if let purge { try backend.purgeHistory(through: purge) }
    if let retention { try backend.purgeHistory(keeping: retention) }
    if let seenBy { try backend.noteHistorySeen(by: seenBy, through: seen) }
    if end { try backend.endHistory() }
    let consumers = try backend.historyConsumers()
    let state = HistoryState(
      after: try backend.historyStart(), lastCommit: backend.lastCommitNumber,
      consumers: consumers.isEmpty ? nil : consumers)
    try backend.close()
    try output.write(state) { state.lines }
  }
}

/// The report of `history`.
struct HistoryState: Encodable {
  /// The last commit before the history; absent without a history.
  var after: UInt64?
  var lastCommit: UInt64
  /// The programs that read the history, with the last commit that each has seen; absent if none.
  var consumers: [String: UInt64]?

  var lines: [String] {
    guard let after else { return ["The store keeps no history."] }
    let seen = (consumers ?? [:]).sorted { $0.key < $1.key }
    return [
      "The store remembers its commits from \(after + 1) on; the last one is \(lastCommit)."
    ] + seen.map { "  \($0.key) has seen commit \($0.value)." }
  }
}
