import ArgumentParser
import Foundation
import StoredObjectsCore

struct DumpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Write the records of a class, or of all, in hex or by properties.",
    discussion: """
      A key is a row ID of 4 bytes, least significant first; the metadata row has 01000000. Named \
      buffers are the class NamedBuffers, with names in UTF-8 as keys. Ordered tables, such as \
      those of a key-value store, are classes named after their files: NAME.ordered, or NAME.index \
      for an index. info --json lists them. An index is written only when you name it. Without a \
      class, JSON is an object with an array for each class.

      With --values the objects are written with the names and values of their properties, a line \
      of JSON for each with --json. Objects that can't be read are listed, and the exit code is \
      then 1.
      """)

  @OptionGroup var store: ReadStoreArgument
  @Argument(help: "The stored name of the class; without it, all classes.")
  var className: String?
  @Flag(help: "Write the values of properties instead of bytes.")
  var values = false
  @OptionGroup var output: OutputOptions

  func run() throws {
    let backend = try store.open()
    if values { return try dumpValues(backend) }
    let names = try backend.tableNames().sorted()
    let ordered = try backend.orderedTableNames().sorted { $0.description < $1.description }
    let all =
      names + (try RecordDump.bufferNames(backend).isEmpty ? [] : [RecordDump.buffers])
      + ordered.filter { $0.kind == .data }.map(\.description)
    let dump = RecordDump(backend: backend, isJSON: output.json)
    if let className {
      try checkIsKnown(className, all + ordered.filter { $0.kind == .index }.map(\.description))
      try dump.write(className)
    } else {
      try dump.writeAll(all)
    }
    try dump.finish()
    try backend.close()
  }

  private func dumpValues(_ backend: any StoreBackend) throws {
    let dump = try ValueDump(backend, isJSON: output.json)
    if let className, !dump.has(className) {
      try checkIsKnown(className, try backend.tableNames().sorted())
    }
    let isWhole = try dump.write(className)
    try backend.close()
    if !isWhole { throw ExitCode(1) }
  }

  private func checkIsKnown(_ name: String, _ known: [String]) throws {
    if known.contains(name) || name == RecordDump.buffers { return }
    let list = known.isEmpty ? "none" : known.joined(separator: ", ")
    throw Failure(description: "There is no class \"\(name)\" in this store. There are: \(list).")
  }
}
