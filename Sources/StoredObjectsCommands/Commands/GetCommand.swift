import ArgumentParser
import RecordBrowsing
import StoredObjectsCore

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print an object with the names of its properties.",
    discussion: "The exit code is 1 if there is no such object.")

  @OptionGroup var store: ReadStoreArgument
  @Argument(help: "The object, such as Song/42.") var id: String
  @Option(name: .customLong("property"), help: "Only this property, without its name.")
  var property: String?
  @OptionGroup var output: OutputOptions

  func run() throws {
    let backend = try store.open()
    let values = try BrowsedState(backend).values(of: ObjectAddress(argument: id))
    if let property {
      guard let value = values[property] else {
        throw Failure(description: "\(id) has no property \"\(property)\".")
      }
      try StandardOutput.write([ObjectLines.text(value, isJSON: output.json)])
    } else {
      try ObjectLines.write(id, values, isJSON: output.json)
    }
    try backend.close()
  }
}
