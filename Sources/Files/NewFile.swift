/// A file that is being created and written; it is closed when the object is released.
///
/// The code that creates it syncs it and renames it, or removes it.
package final class NewFile: Sendable {
  private let file: OpenFile
  /// The location of the file.
  package var location: FileLocation { file.location }

  private init(_ file: OpenFile) { self.file = file }

  /// Creates an empty file, which must not exist; does not follow a symbolic link.
  package convenience init(
    _ file: some FileAddress, rights: FileRights = .anyone
  ) throws(SystemError) {
    self.init(try createFile(file, rights: rights))
  }

  /// Creates and locks an empty file; the lock shows that its writer is alive.
  package static func locked(
    _ address: some FileAddress, rights: FileRights
  ) throws(SystemError) -> NewFile {
    while true {
      let file = NewFile(try createFile(address, rights: rights))
      file.file.lockAlone()
      do throws(SystemError) {
        try file.file.checkHasName()
        return file
      } catch {
        // Another process may have removed the file before it was locked.
        if !error.isMissing { throw error }
      }
    }
  }

  deinit { file.close() }

  /// Writes all bytes of a span.
  package func write(_ bytes: RawSpan, at offset: Int) throws(SystemError) {
    try file.write(bytes, at: offset)
  }

  /// Writes all bytes of an array.
  package func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    try bytes.lend { (bytes) throws(SystemError) in try file.write(bytes, at: offset) }
  }

  /// Reads a part of the file, or as much of it as exists.
  package func read(_ range: Range<Int>) throws(SystemError) -> [UInt8] {
    try file.read(range.count, at: range.lowerBound)
  }

  /// Truncates the file to a size, if it is larger.
  package func trim(to size: Int) throws(SystemError) {
    if try file.size() > size { try file.resize(to: size) }
  }

  /// Lets the system begin to write a part to the disk, without waiting.
  package func startWriting(_ range: Range<Int>) { file.startWriting(range) }

  /// Syncs the file.
  package func synchronize() throws(SystemError) { try file.synchronize() }
}
