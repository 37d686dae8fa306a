import StoredObjectsCore

/// The lock on a store's directory: one writer, or any number of readers, among all processes.
///
/// It is a lock on the directory itself, so that no lock file lies in it. It ends with the process,
/// however that ends.
final class DirectoryLock: Sendable {
  private let descriptor: Int32
  private let path: String

  /// Opens and locks a directory, without waiting.
  init(_ path: String, shared: Bool) throws {
    self.path = path
    descriptor = try storeErrors(at: path) { try openDirectory(path) }
    do {
      try lockDescriptor(descriptor, shared: shared)
    } catch {
      closeDescriptor(descriptor)
      guard error.wouldBlock else { throw StoreError(error, at: path) }
      throw StoreError(
        .inUse, "in use by another process, or by another backend in this one; close that first",
        at: .init(path: path), underlying: error)
    }
  }

  deinit { closeDescriptor(descriptor) }

  /// Brings the names in the directory to the disk.
  func synchronize() throws {
    try storeErrors(at: path) { try syncDescriptor(descriptor) }
  }
}
