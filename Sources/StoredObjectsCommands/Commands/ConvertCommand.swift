import ArgumentParser
import Foundation
import StoreAddresses
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption

struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Copy a store into a new one on another backend, and compare the two.",
    discussion: """
      Every record and every named buffer is copied byte for byte, read back and compared. The \
      store itself is not changed. A copy that could not be finished is removed.
      """)

  @OptionGroup var store: StoreArgument
  @Argument(
    help: """
      Where the new store goes: a directory that must not exist, or be empty, or a URL, \
      postgresql://HOST/DATABASE#STORE, of a store that has nothing yet.
      """, completion: .directory)
  var target: String
  @Option(help: "The backend of a new store in a directory: tokyo-cabinet or cdb.")
  var backend: StoreFormat?
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var target: String
    var backend: String
    var records: Int
  }

  func validate() throws {
    if (backend == nil) != ServerAddress.isURL(target) {
      throw ValidationError("Give --backend for a new store in a directory, and only for that.")
    }
  }

  func run() throws {
    let line = ProgressLine("convert")
    defer { line.end() }
    let key = try store.key.key()
    let source = try store.openAnyForReading(key)
    let (count, name) = try copy(source, key) { line.show($0) }
    try source.close()
    line.end()
    let report = Report(
      target: name, backend: backend?.rawValue ?? "postgresql", records: count)
    try output.write(report) {
      ["\(counted(count, "record", "records")) copied and compared. The new store is in \(name)."]
    }
  }

  /// Copies the store, and returns the number of records and their new location.
  private func copy(
    _ source: any StoreBackend, _ key: EncryptionKey?, _ progress: (IntegrityProgress) -> Void
  ) throws -> (Int, String) {
    if let address = try ServerAddress(target) {
      let copy = try ServerStores.open(address, key, isReadOnly: false)
      let count = try BackendCopy(from: source, to: copy).run(progress: progress)
      try copy.close()
      // The location lacks the password that the URL may have.
      return (count, copy.location)
    }
    guard let backend else { throw ValidationError("Give --backend.") }
    let count = try NewDirectory(target).make { directory in
      let copy = try backend.open(directory, key: key)
      let count = try BackendCopy(from: source, to: copy).run(progress: progress)
      try copy.checkpoint()
      try copy.close()
      return count
    }
    return (count, target)
  }
}
