package import Files
import Synchronization

/// A file of the operating system, held open.
///
/// It is closed at the latest when nobody holds it any more.
package final class FileStorage: Storage {
  private let descriptor: Int32
  private let path: String
  private let isClosed = Atomic(false)

  /// Opens a file; a missing one is made when it is to be writable.
  package init(_ path: String, writable: Bool) throws(SystemError) {
    self.path = path
    descriptor = try openFile(path, writable: writable)
  }

  package func size() throws -> Int { try fileSize(descriptor, path) }

  package func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    try readFile(descriptor, path, count, at: offset)
  }

  package func write(_ bytes: [UInt8], at offset: Int) throws {
    try refuseRemovedFile(descriptor, path)
    try writeFile(descriptor, path, bytes, at: offset)
  }

  package func resize(to size: Int) throws { try resizeFile(descriptor, path, to: size) }

  package func synchronize() throws { try syncData(descriptor, path) }

  package func close() {
    if !isClosed.exchange(true, ordering: .acquiringAndReleasing) { closeFile(descriptor) }
  }

  deinit { close() }
}
