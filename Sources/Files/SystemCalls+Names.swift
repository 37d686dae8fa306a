// The system calls on names: files, renames, locks.

internal import CFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Returns a path without symbolic links and dots.
package func realPath(
  _ path: String, in fileSystem: any FileSystem = SystemFiles.shared
) throws(SystemError) -> String {
  var resolved = ""
  _ = try fileSystem.perform(.resolve, on: path) {
    guard let found = unsafe realpath(path, nil) else { return -1 }
    resolved = unsafe String(cString: found)
    unsafe free(found)
    return 0
  }
  return resolved
}

/// Returns the target of a symbolic link; nil for anything else.
func readLink(_ path: String) -> String? {
  var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = unsafe readlink(path, &buffer, buffer.count)
  if count <= 0 { return nil }
  return String(validating: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Opens a file with the flags of `open`.
func openFile(
  _ file: some FileAddress, _ flags: Int32, mode: UInt32 = 0
) throws(SystemError) -> OpenFile {
  let location = file.location
  let call = flags & O_CREAT == 0 ? FileCall.open : .create
  let descriptor = try location.fileSystem.perform(call, on: location.path) {
    Int(unsafe openat(location.descriptor, location.name, flags | O_CLOEXEC, mode_t(mode)))
  }
  return OpenFile(Int32(descriptor), location)
}

/// Opens a file for reading, or for reading and writing; in the latter case creates a missing file.
///
/// A new file is never the target of a symbolic link.
package func openFile(
  _ file: some FileAddress, writable: Bool, rights: FileRights = .anyone
) throws(SystemError) -> OpenFile {
  guard writable else { return try openFile(file, O_RDONLY) }
  do throws(SystemError) {
    return try openFile(file, O_RDWR)
  } catch {
    if error.kind != .missing { throw error }
  }
  return try createFile(file, rights: rights)
}

/// Creates a file for reading and writing, which must not exist; does not follow a symbolic link.
package func createFile(
  _ file: some FileAddress, rights: FileRights = .anyone
) throws(SystemError) -> OpenFile {
  let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
  // Until the file has its group, only the owner may read it.
  let mode = rights.isCopied ? 0o600 : rights.mode & 0o777
  let file = try openFile(file, flags, mode: mode)
  guard rights.isCopied else { return file }
  do {
    try rights.apply(to: file)
    return file
  } catch {
    file.close()
    throw error
  }
}

/// Syncs the content of a file, including changes that closed memory maps have left.
package func syncFile(_ file: some FileAddress) throws(SystemError) {
  let file = try openFile(file, O_RDONLY)
  defer { file.close() }
  try file.synchronize()
}

/// Removes a regular file unless it is locked, see ``NewFile/locked(_:rights:)``.
///
/// On file systems without such locks, nothing is removed.
package func removeUnlockedFile(_ file: some FileAddress) throws(SystemError) {
  guard try isRegularFile(file) else { return }
  let opened = try openFile(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  defer { opened.close() }
  guard (try? opened.lock(shared: false)) != nil else { return }
  try removeFile(file)
}

/// The `errno` of reading a directory that has been removed.
var directoryRemoved: Int32 { ENOENT }
/// The `errno` of opening a directory that is replaced again and again.
var directoryMoved: Int32 { EBUSY }

/// Whether there is a file, or anything else, of this name.
///
/// - Throws: ``SystemError`` if the system can't tell.
package func exists(_ file: some FileAddress) throws(SystemError) -> Bool {
  let location = file.location
  do throws(SystemError) {
    _ = try location.fileSystem.perform(.exists, on: location.path) {
      Int(unsafe faccessat(location.descriptor, location.name, F_OK, 0))
    }
    return true
  } catch {
    if error.isMissing { return false }
    throw error
  }
}

/// Whether a name, or the target of its link, is a regular file.
///
/// - Throws: ``SystemError`` if the system can't tell.
package func isRegularFile(_ file: some FileAddress) throws(SystemError) -> Bool {
  try FileStatus.find(file)?.isRegular ?? false
}

/// Renames a file, and replaces an existing file of the new name.
package func renameFile(
  _ old: some FileAddress, _ new: some FileAddress
) throws(SystemError) {
  let (old, new) = (old.location, new.location)
  _ = try new.fileSystem.perform(.rename, on: new.path) {
    Int(unsafe renameat(old.descriptor, old.name, new.descriptor, new.name))
  }
}

/// Exchanges the names of two files or directories, in one step.
package func exchangeNames(
  _ first: some FileAddress, _ second: some FileAddress
) throws(SystemError) {
  let (first, second) = (first.location, second.location)
  _ = try first.fileSystem.perform(.exchange, on: first.path) {
    Int(unsafe files_exchange(first.descriptor, first.name, second.descriptor, second.name))
  }
}

/// Copies a file with its owner and permissions to a new name, which must not exist.
///
/// - Parameters:
///   - old: The file.
///   - new: The name of the copy.
///   - rights: Returns the permissions of the copy, given those of the file.
/// - Throws: ``SystemError``.
package func copyFile(
  _ old: some FileAddress, to new: some FileAddress,
  rights: (FileRights) -> FileRights = \.ofReplacement
) throws(SystemError) {
  let source = try openFile(old, O_RDONLY)
  defer { source.close() }
  let status = try FileStatus(source)
  try checkFileSizeLimit(status.size, new.location.path)
  let target = try createFile(new, rights: rights(status.rights))
  defer { target.close() }
  try target.append(source, byteCount: status.size)
}

/// Removes a file; a missing one is not an error.
package func removeFile(_ file: some FileAddress) throws(SystemError) {
  let location = file.location
  do throws(SystemError) {
    _ = try location.fileSystem.perform(.remove, on: location.path) {
      Int(unsafe unlinkat(location.descriptor, location.name, 0))
    }
  } catch {
    if error.kind != .missing { throw error }
  }
}

/// Reads the first bytes of a file: at most `count`, fewer if the file is shorter.
package func firstBytes(
  of file: some FileAddress, count: Int
) throws(SystemError) -> [UInt8] {
  let file = try openFile(file, O_RDONLY | O_NONBLOCK)
  defer { file.close() }
  return try file.read(count, at: 0)
}
