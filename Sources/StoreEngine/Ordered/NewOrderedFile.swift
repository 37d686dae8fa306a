import Files

/// A file of an ordered table that is being written; one that is not finished is removed by the
/// code that has begun it.
final class NewOrderedFile: OrderedFileSink {
  private let file: NewFile
  private var size = 0

  /// Makes a file, in place of one of this name.
  init(_ path: FileLocation, rights: FileRights) throws(StoreError) {
    file = try systemErrors(at: path.path) {
      try removeFile(path)
      return try NewFile(path, rights: rights)
    }
  }

  /// Makes a file that is going to take the place of another one.
  convenience init(_ name: String, in directory: StoreDirectory, replacing oldName: String)
    throws(StoreError)
  {
    try self.init(directory.file(name), rights: directory.rights(ofNew: oldName))
  }

  func write(_ bytes: [UInt8]) throws(StoreError) {
    do throws(SystemError) { try file.write(bytes, at: size) } catch { throw StoreError(error) }
    size += bytes.count
  }

  func finish(isSynced: Bool) throws(StoreError) {
    guard isSynced else { return }
    do throws(SystemError) { try file.synchronize() } catch { throw StoreError(error) }
  }
}
