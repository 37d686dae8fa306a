/// A file that is being made, and written at places; it is closed when nobody has it any more.
///
/// Whoever makes it brings it to the disk, gives it its final name, or removes it.
package final class NewFile: Sendable {
  /// The file.
  package let location: FileLocation
  /// Its path, for people.
  package let path: String
  private let descriptor: Int32

  private init(_ location: FileLocation, _ descriptor: Int32) {
    (self.location, self.descriptor) = (location, descriptor)
    path = location.path
  }

  /// Makes an empty file where there is none; a symbolic link is not followed.
  package convenience init(
    _ file: some FileAddress, rights: FileRights = .anyone
  ) throws(SystemError) {
    self.init(file.location, try createFile(file, rights: rights))
  }

  /// Makes an empty file where there is none, and locks it, as a sign that its writer is alive.
  package static func locked(
    _ address: some FileAddress, rights: FileRights
  ) throws(SystemError) -> NewFile {
    let (location, path) = (address.location, address.location.path)
    while true {
      let file = NewFile(location, try createFile(location, rights: rights))
      lockAlone(file.descriptor, path)
      do throws(SystemError) {
        try checkFileHasName(file.descriptor, path)
        return file
      } catch {
        // Somebody may have cleared it away before it was locked.
        if !error.isMissing { throw error }
      }
    }
  }

  deinit { closeFile(descriptor) }

  /// Writes all bytes that are lent.
  package func write(_ bytes: RawSpan, at offset: Int) throws(SystemError) {
    try writeFile(descriptor, path, bytes, at: offset)
  }

  /// Writes all bytes of an array.
  package func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    try writeFile(descriptor, path, bytes, at: offset)
  }

  /// Reads a part, or what there is of it.
  package func read(_ range: Range<Int>) throws(SystemError) -> [UInt8] {
    try readFile(descriptor, path, range.count, at: range.lowerBound)
  }

  /// Cuts off what is behind an offset.
  package func trim(to size: Int) throws(SystemError) {
    if try fileSize(descriptor, path) > size { try resizeFile(descriptor, path, to: size) }
  }

  /// Brings the file to the disk.
  package func synchronize() throws(SystemError) { try syncDescriptor(descriptor, path) }
}
