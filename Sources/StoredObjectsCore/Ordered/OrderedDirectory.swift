import Files

/// The files of ordered tables in a directory.
struct OrderedDirectory: OrderedFilePlace {
  let location: String
  let isReadOnly: Bool

  private func path(_ name: String) -> String { location + "/" + name }

  func names() throws -> [String] { try directoryEntries(location) }

  func hasFile(_ name: String) -> Bool { exists(path(name)) }

  func open(_ name: String) throws -> MappedFile? {
    exists(path(name)) ? try MappedFile(path(name)) : nil
  }

  func create(_ name: String) throws -> any OrderedFileSink {
    try removeFile(path(name))
    return NewOrderedFile(file: try NewFile(path(name)))
  }

  func rename(_ name: String, to newName: String) throws {
    try renameFile(path(name), path(newName))
  }

  func remove(_ name: String) { try? removeFile(path(name)) }
}

/// A file that is being written; one that is not finished is removed by whoever began it.
private final class NewOrderedFile: OrderedFileSink {
  private let file: NewFile
  private var size = 0

  init(file: NewFile) { self.file = file }

  func write(_ bytes: [UInt8]) throws {
    try file.write(bytes, at: size)
    size += bytes.count
  }

  func finish(isSynced: Bool) throws { if isSynced { try file.synchronize() } }
}
