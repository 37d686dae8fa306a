import ArgumentParser
import Foundation
import StoredObjectsCore

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the objects as JSON with the names of their properties, a line for each.",
    discussion: """
      The first line has the classes and their layouts; import reads such files. Classes from before \
      stores kept layouts, and those that declare no properties, are written with their bytes in \
      Base64. Objects have the layout that they were saved with.
      """)

  @OptionGroup var store: ReadStoreArgument
  @Option(name: .customLong("class"), help: "Only this class; give it once for each class.")
  var classNames: [String] = []
  @Option(
    help: """
      How many references deep objects are written in the place of their IDs; an object is \
      repeated at each reference to it.
      """)
  var depth = 0
  @Option(
    name: .shortAndLong, help: "The file; the standard output by default.", completion: .file())
  var output: String?
  @Flag(help: "Write the report as JSON; only --output gives a report.")
  var json = false

  private struct Report: Encodable {
    var file: String
    var objects: Int
  }

  func validate() throws {
    guard (0...8).contains(depth) else { throw ValidationError("--depth is 0 to 8.") }
  }

  func run() throws {
    let backend = try store.open()
    let export = try RecordExport(backend)
    let classes = try self.classes(export)
    let line = ProgressLine("export")
    defer { line.end() }
    guard let output else {
      _ = try export.exportJSON(classes, depth: depth, progress: { _ in }) {
        try FileHandle.standardOutput.write(contentsOf: Data($0))
      }
      return try backend.close()
    }
    var count = 0
    try withNewFile(output) { write in
      count = try export.exportJSON(
        classes, depth: depth, progress: { line.show($0) }, write: write)
    }
    try backend.close()
    line.end()
    var options = OutputOptions()
    options.json = json
    try options.write(Report(file: output, objects: count)) {
      ["\(counted(count, "object", "objects")) exported to \(output)."]
    }
  }

  private func classes(_ export: RecordExport) throws -> [RecordClass] {
    if classNames.isEmpty { return export.classes }
    return try classNames.map { name in
      if let known = export.classes.first(where: { $0.name == name }) { return known }
      let list = export.classes.map(\.name).joined(separator: ", ")
      throw Failure(description: "There is no class \"\(name)\" in this store. There are: \(list).")
    }
  }
}
