import ArgumentParser
import Foundation
import StoreFormats
import StoredObjectsCore

struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Copy a store into a new one that another backend keeps, and compare the two.",
    discussion: """
      Every record and every named buffer is copied byte for byte, read back and compared. The \
      store itself is not changed. A copy that could not be finished is removed.
      """)

  @OptionGroup var store: StoreArgument
  @Argument(
    help: "Where the new store goes; it must not exist, or be empty.", completion: .directory)
  var target: String
  @Option(help: "The backend of the new store: tokyo-cabinet or cdb.")
  var backend: StoreFormat
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var target: String
    var backend: String
    var records: Int
  }

  func run() throws {
    let line = ProgressLine("convert")
    defer { line.end() }
    let key = try store.key.key()
    let source = try store.openForReading(key)
    let count = try inNewDirectory { directory in
      let copy = try backend.open(directory, key: key)
      let count = try BackendCopy(from: source, to: copy).run { line.show($0) }
      try copy.checkpoint()
      try copy.close()
      return count
    }
    try source.close()
    line.end()
    try output.write(Report(target: target, backend: backend.rawValue, records: count)) {
      ["\(counted(count, "record", "records")) copied and compared. The new store is in \(target)."]
    }
  }

  /// Makes the store under another name; it gets its own when all is well.
  private func inNewDirectory(_ body: (String) throws -> Int) throws -> Int {
    let files = FileManager.default
    if let entries = try? files.contentsOfDirectory(atPath: target), !entries.isEmpty {
      throw Failure(description: "There is something in \"\(target)\": name a new directory.")
    }
    let partial = "\(target).partial-\(UInt32.random(in: 0 ... .max))"
    do {
      let count = try body(partial)
      try? files.removeItem(atPath: target)
      try files.moveItem(atPath: partial, toPath: target)
      return count
    } catch {
      try? files.removeItem(atPath: partial)
      throw error
    }
  }
}
