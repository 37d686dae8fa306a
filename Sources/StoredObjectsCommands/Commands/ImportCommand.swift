import ArgumentParser
import Foundation
import StoreFormats
import StoredObjectsCore

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Read objects from a file of JSON, as export writes it.",
    discussion: """
      The whole file is checked first, and nothing is written if a line is not valid. The program \
      must not have the store open. Its classes are not needed, so each object must have all \
      properties, inverses are not followed, and unique values are not compared: store.check() in \
      the program finds such faults. The program rebuilds the indexes of the classes when it needs \
      them. Classes that the store doesn't have are taken from the file.
      """)

  @OptionGroup var store: StoreArgument
  @Argument(help: "The file.", completion: .file())
  var file: String
  @Option(
    help: """
      keep: the store must not have any of the IDs; replace: objects replace those with their IDs; \
      new: objects get new IDs, and references between them follow.
      """)
  var ids: ImportedIDs = .keep
  @Option(help: "Make a new store, of this backend: tokyo-cabinet or cdb.")
  var create: StoreFormat?
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var objects: Int
  }

  func run() throws {
    let line = ProgressLine("import")
    defer { line.end() }
    let backend = try open()
    let count: Int
    do {
      count = try RecordTarget.importJSON(from: file, into: backend, mode: ids.mode) {
        line.show($0)
      }
    } catch {
      try? backend.close()
      throw error
    }
    try backend.close()
    line.end()
    try output.write(Report(objects: count)) {
      ["\(counted(count, "object", "objects")) imported."]
    }
  }

  private func open() throws -> any StoreBackend {
    guard let create else { return try store.openAnyForWriting() }
    let entries = try? FileManager.default.contentsOfDirectory(atPath: store.directory)
    guard entries?.isEmpty ?? true else {
      throw Failure(
        description: "There is something in \"\(store.directory)\": name a new directory.")
    }
    return try create.open(
      store.directory, lockTimeout: StoreArgument.lockTimeout, key: store.key.key())
  }
}

/// The treatment of the IDs in the file.
enum ImportedIDs: String, CaseIterable, ExpressibleByArgument {
  case keep, replace, new

  var mode: JSONImportMode {
    switch self {
    case .keep: .keepIDs
    case .replace: .replace
    case .new: .newIDs
    }
  }
}
