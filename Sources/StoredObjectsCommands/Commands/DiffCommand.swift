import ArgumentParser
import RecordBrowsing
import StoredObjectsCore

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show the objects that differ between two commits of a store with a history.",
    discussion: """
      Give a commit by its number, or by a time such as 2026-11-25T18:30:00Z for the last commit \
      up to then. Each object is shown once, with the old value of each property first. With \
      --json, each object is a line of JSON.
      """)

  @OptionGroup var store: StoreArgument
  @Argument(help: "The commit with the old values.") var old: CommitArgument
  @Argument(help: "The commit with the new values; the last one by default.")
  var new: CommitArgument?
  @Option(name: .customLong("class"), help: "Only objects of this class; can be given again.")
  var classes: [String] = []
  @OptionGroup var output: OutputOptions

  func run() throws {
    let backend = try store.openAnyForReading()
    let changes = try BrowsedState(backend).historyReader().differences(
      from: old.number(in: backend), to: new?.number(in: backend) ?? backend.lastCommitNumber,
      of: classes.isEmpty ? nil : Set(classes))
    for change in changes {
      try StandardOutput.write(
        output.json
          ? [ValueDump.text(CommitLines.value(of: change))] : CommitLines.text(change))
    }
    try backend.close()
  }
}
