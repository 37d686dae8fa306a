/// The lock on a store's directory: one writer, or any number of readers, among all processes.
///
/// It is a lock on the directory itself, so that no lock file lies in it. It ends with the process,
/// however that ends.
package final class DirectoryLock: Sendable {
  private let descriptor: Int32
  private let path: String

  /// Opens and locks a directory, without waiting.
  package init(_ path: String, shared: Bool) throws(SystemError) {
    // Set last: once all properties are, a refusal would run `deinit` and close a second time what
    // may be another's descriptor by then.
    let descriptor = try openDirectory(path)
    do {
      try lockDescriptor(descriptor, path, shared: shared)
    } catch {
      closeFile(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
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
