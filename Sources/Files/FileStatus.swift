#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The identity, the size and the permissions of a file.
package struct FileStatus: Sendable {
  package let identity: FileIdentity
  /// The size in bytes.
  package let size: Int
  /// The time of the last change of its content, in nanoseconds since 1970.
  package let modificationTime: Int64
  /// The number of names of the file.
  package let linkCount: Int
  /// The owner and the permissions.
  package let rights: FileRights
  private let type: UInt32

  /// Whether it is a regular file.
  package var isRegular: Bool { type == UInt32(S_IFREG) }
  /// Whether it is a directory.
  package var isDirectory: Bool { type == UInt32(S_IFDIR) }

  private init(_ status: stat) {
    identity = FileIdentity(
      device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
    (size, linkCount) = (Int(status.st_size), Int(status.st_nlink))
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    modificationTime = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    type = UInt32(status.st_mode & S_IFMT)
    rights = FileRights(
      mode: UInt32(status.st_mode) & 0o7777, user: status.st_uid, group: status.st_gid)
  }

  /// Returns the status of a file.
  ///
  /// - Parameters:
  ///   - file: Its address.
  ///   - followsLink: Whether to follow a symbolic link, or to return the status of the link
  ///     itself.
  /// - Returns: nil if there is no file.
  /// - Throws: ``SystemError`` if the system can't tell.
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

  /// Reads the status of an open file.
  package init(_ file: OpenFile) throws(SystemError) {
    var status = stat()
    _ = try file.location.fileSystem.perform(.status, on: file.location.path) {
      Int(unsafe fstat(file.descriptor, &status))
    }
    self.init(status)
  }
}

/// The identity of a file, independent of its path.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
}
