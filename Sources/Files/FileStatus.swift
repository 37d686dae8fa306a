#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Which file a path leads to, and its size.
package struct FileStatus: Sendable {
  package let identity: FileIdentity
  /// In bytes.
  package let size: Int

  /// Examines a file; nil when there is none, or it can't be reached.
  package init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    size = Int(status.st_size)
  }
}

/// A file, whatever path leads to it.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
}
