import ArgumentParser
import StoredObjectsCore

struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Rebuild the class files without gaps.",
    discussion: "Needs room for a second copy of the files while it runs.")

  @OptionGroup var store: StoreArgument
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable { var bytesSaved: Int }

  func run() throws {
    let line = ProgressLine("compact")
    defer { line.end() }
    let backend = try store.openForWriting()
    let saved = try backend.compact { line.show($0) }
    try backend.close()
    line.end()
    try output.write(Report(bytesSaved: saved)) { ["\(bytesText(saved)) saved"] }
  }
}
