/// A file that is being made, and written at places; it is closed when nobody has it any more.
///
/// Whoever makes it brings it to the disk, gives it its final name, or removes it.
package final class NewFile: Sendable {
  private let file: OpenFile
  /// The file.
  package var location: FileLocation { file.location }

  private init(_ file: OpenFile) { self.file = file }

  /// Makes an empty file where there is none; a symbolic link is not followed.
  package convenience init(
    _ file: some FileAddress, rights: FileRights = .anyone
  ) throws(SystemError) {
    self.init(try createFile(file, rights: rights))
  }

  /// Makes an empty file where there is none, and locks it, as a sign that its writer is alive.
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
        // Somebody may have cleared it away before it was locked.
        if !error.isMissing { throw error }
      }
    }
  }

  deinit { file.close() }

  /// Writes all bytes that are lent.
  package func write(_ bytes: RawSpan, at offset: Int) throws(SystemError) {
    try file.write(bytes, at: offset)
  }

  /// Writes all bytes of an array.
  package func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    try bytes.lend { (bytes) throws(SystemError) in try file.write(bytes, at: offset) }
  }

  /// Reads a part, or what there is of it.
  package func read(_ range: Range<Int>) throws(SystemError) -> [UInt8] {
    try file.read(range.count, at: range.lowerBound)
  }

  /// Cuts off what is behind an offset.
  package func trim(to size: Int) throws(SystemError) {
    if try file.size() > size { try file.resize(to: size) }
  }

  /// Brings the file to the disk.
  package func synchronize() throws(SystemError) { try file.synchronize() }
}
