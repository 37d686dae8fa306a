import Files

/// The files of ordered tables in a directory.
struct OrderedDirectory: OrderedFileLocation {
  let directory: StoreDirectory

  var location: String { directory.path }
  var isReadOnly: Bool { directory.isReadOnly }

  func names() throws -> [String] { try directory.entries() }

  func hasFile(_ name: String) throws -> Bool { try directory.hasFile(name) }

  func open(_ name: String) throws -> MappedFile? {
    do {
      return try MappedFile(directory.file(name))
    } catch let error as SystemError where error.isMissing {
      return nil
    }
  }

  func create(_ name: String, replacing oldName: String) throws -> any OrderedFileSink {
    try NewOrderedFile(directory.file(name), rights: directory.rights(ofNew: oldName))
  }

  func rename(_ name: String, to newName: String) throws {
    try renameFile(directory.file(name), directory.file(newName))
  }

  func remove(_ name: String) { try? removeFile(directory.file(name)) }
}

/// A file that is being written; one that is not finished is removed by whoever began it.
final class NewOrderedFile: OrderedFileSink {
  private let file: NewFile
  private var size = 0

  /// Makes a file, in place of one of this name.
  init(_ location: FileLocation, rights: FileRights) throws {
    try removeFile(location)
    file = try NewFile(location, rights: rights)
  }

  func write(_ bytes: [UInt8]) throws {
    try file.write(bytes, at: size)
    size += bytes.count
  }

  func finish(isSynced: Bool) throws { if isSynced { try file.synchronize() } }
}
