#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Which file a path leads to, its size, and who may use it.
package struct FileStatus: Sendable {
  package let identity: FileIdentity
  /// In bytes.
  package let size: Int
  /// When its content was last changed, in nanoseconds since 1970.
  package let modificationTime: Int64
  /// How many names it has.
  package let linkCount: Int
  /// Its owner, and who else may use it.
  package let rights: FileRights
  private let type: UInt32

  /// Whether it is a regular file.
  package var isRegular: Bool { type == UInt32(S_IFREG) }
  /// Whether it is a directory.
  package var isDirectory: Bool { type == UInt32(S_IFDIR) }

  private init(_ status: stat) {
    identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    (size, linkCount) = (Int(status.st_size), Int(status.st_nlink))
    modificationTime = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    type = UInt32(status.st_mode & S_IFMT)
    rights = FileRights(
      mode: UInt32(status.st_mode) & 0o7777, user: status.st_uid, group: status.st_gid)
  }

  /// Examines a file.
  ///
  /// - Parameters:
  ///   - file: Its address.
  ///   - followsLink: Whether a symbolic link is examined, or the file that it leads to.
  /// - Returns: nil when there is no file.
  /// - Throws: ``SystemError`` when the system does not say.
  package static func find(
    _ file: some FileAddress, followsLink: Bool = true
  ) throws(SystemError) -> FileStatus? {
    let location = file.location
    var status = stat()
    do throws(SystemError) {
      _ = try location.fileSystem.perform(.find, on: location.path) {
        Int(
          unsafe fstatat(
            location.descriptor, location.name, &status, followsLink ? 0 : AT_SYMLINK_NOFOLLOW))
      }
    } catch {
      if error.isMissing { return nil }
      throw error
    }
    return FileStatus(status)
  }

  /// Examines an open file.
  package init(_ file: OpenFile) throws(SystemError) {
    var status = stat()
    _ = try file.location.fileSystem.perform(.status, on: file.location.path) {
      Int(unsafe fstat(file.descriptor, &status))
    }
    self.init(status)
  }
}

/// A file, whatever path leads to it.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
}
