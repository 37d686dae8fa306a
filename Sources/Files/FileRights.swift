#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The owner and the permissions of a file.
package struct FileRights: Hashable, Sendable {
  /// The permissions, without the type of the file.
  package var mode: UInt32
  /// The owner and the group; nil for those of the process.
  private var owner: Owner?

  private struct Owner: Hashable, Sendable { let user, group: UInt32 }

  init(mode: UInt32, user: UInt32, group: UInt32) {
    (self.mode, owner) = (mode, Owner(user: user, group: group))
  }

  private init(atMost mode: UInt32) { (self.mode, owner) = (mode, nil) }

  /// Reading and writing for everyone, as far as the umask of the process permits.
  package static let anyone = FileRights(atMost: 0o666)
  /// Reading and writing for the owner only.
  package static let ownerOnly = FileRights(atMost: 0o600)

  /// Whether the owner and the permissions are copied from another file, regardless of the umask.
  var isCopied: Bool { owner != nil }

  /// The permissions for a new file in a directory with these permissions.
  ///
  /// Only those who may list the directory may read the file.
  package var ofNewFiles: FileRights { FileRights(atMost: 0o600 | mode & 0o066) }

  /// The permissions for a new file that replaces one with these permissions.
  ///
  /// The owner may write to it; otherwise it could not be replaced again.
  package var ofReplacement: FileRights {
    var rights = self
    rights.mode = mode & 0o777 | 0o600
    return rights
  }

  /// The permissions for a file with a key; if everyone may read it, that is taken for a mistake.
  package var ofKey: FileRights {
    var rights = ofReplacement
    if mode & 0o007 != 0 { rights.mode = 0o600 }
    return rights
  }

  /// Returns these permissions without those that another file denies.
  package func limited(by other: FileRights) -> FileRights {
    var rights = self
    rights.mode &= other.mode
    return rights
  }

  /// Gives an open file these owners and permissions, as far as allowed.
  ///
  /// If the process may not set the group, the present group gets no more permissions than
  /// everyone.
  func apply(to file: OpenFile) throws(SystemError) {
    guard let owner else { return }
    let descriptor = file.descriptor
    var new = try FileStatus(file).rights
    if new.owner != owner {
      if fchown(descriptor, owner.user, owner.group) != 0 {
        _ = fchown(descriptor, uid_t.max, owner.group)
      }
      new = try FileStatus(file).rights
    }
    var mode = mode
    if new.owner?.group != owner.group { mode = mode & ~0o2070 | (mode & 0o007) << 3 & mode }
    if new.mode == mode { return }
    do throws(SystemError) {
      _ = try file.location.fileSystem.perform(.setMode, on: file.location.path) {
        Int(fchmod(descriptor, mode_t(mode)))
      }
    } catch {
      // Some file systems have the same permissions for all files.
      if ![EPERM, ENOTSUP, ENOSYS].contains(error.number) { throw error }
    }
  }
}

/// Gives a file these owners and permissions, as far as allowed.
package func give(_ rights: FileRights, to file: some FileAddress) throws(SystemError) {
  let file = try openFile(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  defer { file.close() }
  try rights.apply(to: file)
}
