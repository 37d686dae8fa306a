import ArgumentParser
import StoredObjectsCore

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy a store into a new directory.",
    discussion: """
      Programs may have the store open, and save to it meanwhile. The copy is the store as of one \
      commit.
      """)

  @OptionGroup var store: StoreArgument
  @Argument(help: "Where the copy goes; it must not exist, or be empty.", completion: .directory)
  var target: String
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable { var target: String }

  func run() throws {
    let line = ProgressLine("backup")
    let backend = try store.openForReading()
    defer { line.end() }
    try backend.backup(to: target) { line.show($0) }
    try backend.close()
    line.end()
    try output.write(Report(target: target)) { ["The copy is in \(target)."] }
  }
}
