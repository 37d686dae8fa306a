import Files

/// A file of an ordered table that is being written.
///
/// The code that creates it removes it if it is not finished.
final class NewOrderedFile: OrderedFileSink {
  private let file: NewFile
  private var size = 0
  /// The number of bytes that the system has begun to write to the disk.
  private var started = 0

  /// The number of bytes after which the system begins to write them.
  ///
  /// Otherwise a sync would write a gigabyte at once, and saves on other threads would wait for it.
  private static let part = 4 << 20

  /// Creates a file, replacing any file of this name.
  init(_ path: FileLocation, rights: FileRights) throws(StoreError) {
    file = try systemErrors(at: path.path) {
      try removeFile(path)
      return try NewFile(path, rights: rights)
    }
  }

  /// Creates a file that will replace another one.
  convenience init(_ name: String, in directory: StoreDirectory, replacing oldName: String)
    throws(StoreError)
  {
    try self.init(directory.file(name), rights: directory.rights(ofNew: oldName))
  }

  func write(_ bytes: [UInt8]) throws(StoreError) {
    do throws(SystemError) { try file.write(bytes, at: size) } catch { throw StoreError(error) }
    size += bytes.count
    if size - started >= Self.part {
      file.startWriting(started..<size)
      started = size
    }
  }

  func finish(isSynced: Bool) throws(StoreError) {
    guard isSynced else { return }
    do throws(SystemError) { try file.synchronize() } catch { throw StoreError(error) }
  }
}
