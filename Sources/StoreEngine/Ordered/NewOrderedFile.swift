import Files

/// A file of an ordered table that is being written; one that is not finished is removed by the
/// code that has begun it.
final class NewOrderedFile: OrderedFileSink {
  private let file: NewFile
  private var size = 0

  /// Makes a file, in place of one of this name.
  init(_ path: FileLocation, rights: FileRights) throws {
    try removeFile(path)
    file = try NewFile(path, rights: rights)
  }

  /// Makes a file that is going to take the place of another one.
  convenience init(_ name: String, in directory: StoreDirectory, replacing oldName: String) throws {
    try self.init(directory.file(name), rights: directory.rights(ofNew: oldName))
  }

  func write(_ bytes: [UInt8]) throws {
    try file.write(bytes, at: size)
    size += bytes.count
  }

  func finish(isSynced: Bool) throws { if isSynced { try file.synchronize() } }
}
