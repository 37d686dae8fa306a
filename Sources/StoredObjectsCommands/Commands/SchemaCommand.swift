import ArgumentParser
import Modeling
import StoredObjectsCore

struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Show the properties of the classes: as text, a class diagram, or Swift source.",
    discussion: """
      A store keeps the names and types of the properties of each class, for every layout that its \
      records have had. Defaults, superclasses and indexes are only in the program. Swift source \
      declares classes by @Stored; types that only their own code can read are stubs in it, which \
      you replace before you open the store.
      """)

  @OptionGroup var store: StoreArgument
  @Option(help: "The form of the output; mermaid is a class diagram.")
  var format: SchemaFormat = .text
  @Flag(help: "Show earlier layouts, too, and the changes between them.")
  var history = false
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if format != .text, output.json || history {
      throw ValidationError("--json and --history don't go with --format \(format.rawValue).")
    }
  }

  /// The beginning of Swift source.
  private static let introduction = [
    "The classes of a store, from its layouts. The store does not keep defaults, superclasses and",
    "indexes. Register the classes:",
  ]

  func run() throws {
    let backend = try store.openAnyForReading()
    let schema = try StoreSchema(backend)
    try backend.close()
    try output.write(SchemaReport(schema)) {
      switch format {
      case .text: SchemaText(schema, showsHistory: history).lines
      case .mermaid: MermaidDiagram(schema).lines
      case .swift: SwiftSource(schema.design, introduction: Self.introduction).lines
      }
    }
    if schema.hasDamage { throw ExitCode(1) }
  }
}

/// The output formats of a schema.
enum SchemaFormat: String, CaseIterable, ExpressibleByArgument {
  case text, mermaid, swift
}
