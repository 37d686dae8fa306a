import ArgumentParser
import Foundation
import StoredObjectsCore

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Copy a store with a history into a new directory, as it was at an earlier commit.",
    discussion: """
      The store itself stays as it is, and programs may save to it meanwhile. In the copy, one commit \
      takes back all later ones, and log shows both.
      """)

  @OptionGroup var store: StoreArgument
  @Argument(help: "Where the copy goes; it must not exist, or be empty.", completion: .directory)
  var target: String
  @Option(help: "The last commit that counts.") var commit: UInt64?
  @Option(help: "The moment whose last commit counts, as 2026-11-25T18:30:00Z.")
  var time: CommitArgument?
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var target: String
    var commit: UInt64
  }

  func validate() throws {
    guard (commit == nil) != (time == nil) else {
      throw ValidationError("Give either --commit or --time.")
    }
    if case .number? = time {
      throw ValidationError("--time is a moment such as 2026-11-25T18:30:00Z.")
    }
  }

  func run() throws {
    let key = try store.key.key()
    let backend = try store.openForReading(key)
    let number = try commit ?? time?.number(in: backend) ?? backend.lastCommitNumber
    // Checked before anything is copied: a commit that is not in the history can't be restored.
    try backend.checkHistory(reachesBackTo: number)
    try backend.backup(to: target) { _ in }
    try backend.close()
    var place = store
    place.directory = target
    let copy = try place.openForWriting(key)
    try copy.revert(toCommit: number, author: "restore")
    try copy.close()
    try output.write(Report(target: target, commit: number)) {
      ["The store as of commit \(number) is in \(target)."]
    }
  }
}
