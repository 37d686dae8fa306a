import ArgumentParser
import StoredObjectsCore

struct CheckpointCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkpoint", abstract: "Fold the commit log into the class files.")

  @OptionGroup var store: StoreArgument
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable { var bytesFolded: Int }

  func run() throws {
    let backend = try store.openForWriting()
    let pending = try backend.logState()?.pendingCount ?? 0
    try backend.checkpoint()
    try backend.close()
    try output.write(Report(bytesFolded: pending)) { ["\(bytesText(pending)) folded"] }
  }
}
