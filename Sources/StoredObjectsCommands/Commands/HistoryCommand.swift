import ArgumentParser
import StoredObjectsCore

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Begin, purge or end the history of a store, or show where it begins.",
    discussion: """
      A history has an entry for each commit, with the old and the new values. log shows them.

      --keep-days and --keep-megabytes remove the entries of the oldest commits, except those that \
      a consumer has not seen. A program registers itself as a consumer, or you register it: \
      --seen-by search --seen 42.
      """)

  @OptionGroup var store: StoreArgument
  @Flag(help: "Record each commit from now on.") var begin = false
  @Option(help: "Remove all entries up to and including this number.") var purge: UInt64?
  @Option(help: "Remove all entries older than this number of days.") var keepDays: Double?
  @Option(help: "Remove the oldest entries until all take at most this number of megabytes.")
  var keepMegabytes: Double?
  @Option(help: "A consumer whose unseen entries the --keep options keep.") var seenBy: String?
  @Option(help: "The last commit that this consumer has seen; without it, the consumer is removed.")
  var seen: UInt64?
  @Flag(help: "Remove all entries, and stop recording commits.") var end = false
  @OptionGroup var output: OutputOptions

  func validate() throws {
    let isKeeping = keepDays != nil || keepMegabytes != nil
    if [begin, purge != nil, isKeeping, seenBy != nil, end].count(where: { $0 }) > 1 {
      throw ValidationError("Give one of --begin, --purge, --keep-…, --seen-by and --end.")
    }
    if seen != nil, seenBy == nil { throw ValidationError("--seen needs --seen-by.") }
    if [keepDays, keepMegabytes].contains(where: { $0.map { !(0...1e9).contains($0) } ?? false }) {
      throw ValidationError("Days and megabytes must not be negative.")
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
  /// The consumers of the history, with the last commit that each has seen; absent if none.
  var consumers: [String: UInt64]?

  var lines: [String] {
    guard let after else { return ["The store keeps no history."] }
    let seen = (consumers ?? [:]).sorted { $0.key < $1.key }
    return [
      "The history begins with commit \(after + 1). The last commit is \(lastCommit)."
    ] + seen.map { "  \($0.key) has seen commit \($0.value)." }
  }
}
