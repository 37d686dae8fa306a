import ArgumentParser
import StoredObjectsCore

struct PromoteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "promote",
    abstract: "Turn a copy that follows a store into a store of its own.",
    discussion: """
      End follow or apply first. After promote, programs can save to the copy, and it can't follow \
      the other store any more. Save to one of the two stores only.
      """)

  @OptionGroup var store: StoreArgument
  @OptionGroup var output: OutputOptions

  func run() throws {
    let backend = try store.openForWriting()
    try backend.promote(author: "promote")
    let report = FollowerReport(target: store.directory, commit: backend.lastCommitNumber)
    try backend.close()
    try output.write(report) { ["\(report.target) is a store of its own now."] }
  }
}
