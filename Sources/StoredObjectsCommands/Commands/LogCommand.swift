import ArgumentParser
import Foundation
import RecordBrowsing
import StoredObjectsCore

struct LogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show the changes of each commit of a store with a history.",
    discussion: """
      A history begins when a program calls beginHistory(), or when you run history --begin. Each \
      object is shown with its changed properties, the old value first. With --json, each commit \
      is a line of JSON.
      """)

  @OptionGroup var store: StoreArgument
  @Option(help: "Only commits after this number.") var after: UInt64?
  @Option(name: .customLong("class"), help: "Only objects of this class; can be given again.")
  var classes: [String] = []
  @Option(help: "Only commits of this author; can be given again.") var author: [String] = []
  @Option(help: "The maximum number of commits.") var limit: Int?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be above 0.") }
  }

  func run() throws {
    let backend = try store.openAnyForReading()
    var count = 0
    try BrowsedState(backend).historyReader().forEachCommit(
      after: after, of: classes.isEmpty ? nil : Set(classes),
      where: { author.isEmpty || author.contains($0.author) }
    ) { commit in
      try StandardOutput.write(output.json ? [CommitLines.json(commit)] : CommitLines.text(commit))
      count += 1
      return count == limit ? .pause : .next
    }
    try backend.close()
  }
}

/// The output of `log` for a commit.
enum CommitLines {
  static func text(_ commit: HistoryCommit) throws -> [String] {
    let time = commit.commit.time.map { $0.formatted(.iso8601) } ?? "unknown time"
    let author = commit.commit.author.isEmpty ? "" : "  \(commit.commit.author)"
    var lines = ["commit \(commit.commit.number)  \(time)\(author)"]
    for change in commit.changes { lines += try text(change).map { "  " + $0 } }
    return lines
  }

  static func text(_ change: HistoryChange) throws -> [String] {
    var lines = ["\(change.id) \(change.kind.rawValue)"]
    for name in change.changedProperties {
      let values = try [change.old, change.new].compactMap { $0 }
        .map { try $0[name].map(ValueDump.text) ?? "none" }
      lines.append("  \(name): \(values.joined(separator: " -> "))")
    }
    return lines
  }

  static func json(_ commit: HistoryCommit) throws -> String {
    var fields: [(String, StoredValue)] = [
      ("number", .int(Int64(clamping: commit.commit.number))),
      ("author", .string(commit.commit.author)),
      ("changes", .array(StoredValue.Elements(commit.changes.map(value(of:))))),
    ]
    if let time = commit.commit.time { fields.append(("time", .string(time.formatted(.iso8601)))) }
    return try ValueDump.text(.dictionary(.init(fields)))
  }

  static func value(of change: HistoryChange) -> StoredValue {
    var fields: [(String, StoredValue)] = [
      ("id", .string("\(change.id)")), ("kind", .string(change.kind.rawValue)),
    ]
    if let old = change.old { fields.append(("old", .dictionary(old.values))) }
    if let new = change.new { fields.append(("new", .dictionary(new.values))) }
    return .dictionary(.init(fields))
  }
}
