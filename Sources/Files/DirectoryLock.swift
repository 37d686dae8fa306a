/// The lock on a store's directory: one writer, or any number of readers, among all processes.
///
/// It is a lock on the directory itself, so that no lock file lies in it. It ends with the process,
/// however that ends.
package final class DirectoryLock: Sendable {
  private let descriptor: Int32
  private let path: String

  private init(_ path: String, _ descriptor: Int32) {
    (self.path, self.descriptor) = (path, descriptor)
  }

  /// Opens and locks a directory, without waiting.
  package convenience init(_ path: String, shared: Bool) throws(SystemError) {
    self.init(path, try openDirectory(path))
    // When it is refused, `deinit` closes it, and nobody else may.
    try lockDescriptor(descriptor, path, shared: shared)
  }

  deinit {
    unlockDescriptor(descriptor)
    closeFile(descriptor)
  }

  /// Brings the names in the directory to the disk.
  package func synchronize() throws(SystemError) {
    try syncDescriptor(descriptor, path)
  }
}
