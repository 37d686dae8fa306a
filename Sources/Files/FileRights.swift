#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The owner of a file, and who else may use it.
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

  /// Reading and writing for everybody, as far as the umask of the process allows.
  package static let anyone = FileRights(atMost: 0o666)
  /// For the owner only.
  package static let ownerOnly = FileRights(atMost: 0o600)

  /// Whether the owner and the permissions are those of another file, whatever the umask is.
  var isCopied: Bool { owner != nil }

  /// For a new file in a directory of these rights: nobody who can't list the directory may read
  /// it.
  package var ofNewFiles: FileRights { FileRights(atMost: 0o600 | mode & 0o066) }

  /// For a new file in the place of one with these rights.
  ///
  /// The owner may write to it, or the file could not be replaced again.
  package var ofReplacement: FileRights {
    var rights = self
    rights.mode = mode & 0o777 | 0o600
    return rights
  }

  /// For a file that holds a key: of one that everybody may read, nobody can have meant it.
  package var ofKey: FileRights {
    var rights = ofReplacement
    if mode & 0o007 != 0 { rights.mode = 0o600 }
    return rights
  }

  /// The same without what another file does not allow others.
  package func limited(by other: FileRights) -> FileRights {
    var rights = self
    rights.mode &= other.mode
    return rights
  }

  /// Gives an open file these rights, as far as that is allowed.
  ///
  /// A process that may not give it to the group gives others no more rights than everybody has.
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

/// Gives a file these rights, as far as that is allowed.
package func give(_ rights: FileRights, to file: some FileAddress) throws(SystemError) {
  let file = try openFile(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  defer { file.close() }
  try rights.apply(to: file)
}
