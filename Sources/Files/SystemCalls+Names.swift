// The operating system's calls on names: directories, renames, locks.

internal import CFiles

#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Makes a directory and those above it that are missing; one that is there already is fine.
///
/// The name of a new directory is brought to the disk, or a power cut could take it, saves and all.
package func makeDirectories(_ path: String) throws(SystemError) {
  if unsafe mkdir(path, 0o777) == 0 { return try syncDirectory(directoryName(path)) }
  if errno == EEXIST { return }
  let error = SystemError.last("mkdir", path)
  let parent = directoryName(path)
  guard error.kind == .missing, parent != path else { throw error }
  try makeDirectories(parent)
  if unsafe mkdir(path, 0o777) != 0 && errno != EEXIST { throw .last("mkdir", path) }
  try syncDirectory(parent)
}

/// The directory that a path lies in.
package func directoryName(_ path: String) -> String {
  var path = Substring(path)
  while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// A path without symbolic links and dots.
package func realPath(_ path: String) throws(SystemError) -> String {
  guard let resolved = unsafe realpath(path, nil) else { throw .last("realpath", path) }
  defer { unsafe free(resolved) }
  return unsafe String(cString: resolved)
}

/// Brings the names in a directory to the disk.
package func syncDirectory(_ path: String) throws(SystemError) {
  let descriptor = try openDirectory(path)
  defer { closeFile(descriptor) }
  try syncDescriptor(descriptor, path)
}

/// Brings the content of a file to the disk, with what closed memory maps have left of it.
package func syncFile(_ path: String) throws(SystemError) {
  let descriptor = Int32(
    try retrying("open", path) { Int(unsafe open(path, O_RDONLY | O_CLOEXEC)) })
  defer { closeFile(descriptor) }
  try syncDescriptor(descriptor, path)
}

/// Opens a directory; not inherited by child processes.
package func openDirectory(_ path: String) throws(SystemError) -> Int32 {
  Int32(try retrying("open", path) { Int(unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) })
}

/// `fsync`.
package func syncDescriptor(_ descriptor: Int32, _ path: String) throws(SystemError) {
  _ = try retrying("fsync", path) { Int(fsync(descriptor)) }
}

/// Locks an open directory, shared or alone, without waiting.
package func lockDescriptor(
  _ descriptor: Int32, _ path: String, shared: Bool
) throws(SystemError) {
  _ = try retrying("flock", path) { Int(flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB)) }
}

/// Locks an open file against those who lock it for writing, where the file system can do that.
///
/// `F_OFD_SETLK`.
package func lockForReading(_ descriptor: Int32, _ path: String) throws(SystemError) {
  guard files_lock_shared(descriptor) != 0 else { return }
  if errno == EAGAIN || errno == EACCES {
    throw SystemError(call: "fcntl", path: path, number: EWOULDBLOCK)
  }
}

/// Locks an open file alone, and waits for that; where the file system has no such locks there is none.
///
/// It ends when the file is closed, at the latest with the process.
package func lockAlone(_ descriptor: Int32) {
  while flock(descriptor, LOCK_EX) != 0 && errno == EINTR {}
}

/// Removes a regular file unless somebody has locked it, see ``lockAlone(_:)``.
///
/// Where the file system has no such locks, nothing is removed.
package func removeUnlockedFile(_ path: String) throws(SystemError) {
  guard isRegularFile(path) else { return }
  let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
  let descriptor = Int32(try retrying("open", path) { Int(unsafe open(path, flags)) })
  defer { closeFile(descriptor) }
  if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { try removeFile(path) }
}

/// Unlocks an open directory, also for a child process that has been forked and not executed yet.
package func unlockDescriptor(_ descriptor: Int32) { _ = flock(descriptor, LOCK_UN) }

/// Whether there is a file, or anything else, of this path.
package func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

/// Gives a file a new name, replacing a file that has it.
package func renameFile(_ old: String, _ new: String) throws(SystemError) {
  if unsafe rename(old, new) != 0 { throw .last("rename", new) }
}

/// Lets two files or directories change names, in one step.
package func exchangeNames(_ first: String, _ second: String) throws(SystemError) {
  if unsafe files_exchange(first, second) != 0 { throw .last("renameat2", first) }
}

/// Gives a file or directory the permissions of another one.
package func copyPermissions(of other: String, to path: String) throws(SystemError) {
  var status = stat()
  if unsafe stat(other, &status) != 0 { throw .last("stat", other) }
  if unsafe chmod(path, status.st_mode & 0o7777) != 0 { throw .last("chmod", path) }
}

/// Makes a file that must not be there yet, with the permissions of another one, if that is there.
package func createFile(_ path: String, like other: String) throws(SystemError) -> Int32 {
  let descriptor = try createFile(path)
  var status = stat()
  if unsafe stat(other, &status) == 0 { _ = fchmod(descriptor, status.st_mode & 0o777) }
  return descriptor
}

/// Copies a file, with its permissions, to a path where there is none or an older one.
package func copyFile(_ old: String, to new: String) throws(SystemError) {
  let source = Int32(
    try retrying("open", old) { Int(unsafe open(old, O_RDONLY | O_CLOEXEC)) })
  defer { closeFile(source) }
  var status = stat()
  _ = try retrying("fstat", old) { Int(unsafe fstat(source, &status)) }
  let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
  let target = Int32(
    try retrying("open", new) { Int(unsafe open(new, flags, status.st_mode & 0o777)) })
  defer { closeFile(target) }
  var rest = Int(status.st_size)
  try refuseBeyondLimit(rest, new)
  while rest > 0 {
    let part = sendfile(target, source, nil, rest)
    if part < 0 && errno == EINTR { continue }
    if part < 0 { throw .last("sendfile", new) }
    if part == 0 { throw SystemError(call: "sendfile", path: new, number: EIO) }
    rest -= part
  }
}

/// Removes a file; one that isn't there is fine.
package func removeFile(_ path: String) throws(SystemError) {
  if unsafe unlink(path) != 0 && errno != ENOENT { throw .last("unlink", path) }
}

/// The names of the entries of a directory, in no order.
package func directoryEntries(_ path: String) throws(SystemError) -> [String] {
  guard let directory = unsafe opendir(path) else { throw .last("opendir", path) }
  defer { unsafe closedir(directory) }
  var names: [String] = []
  while let entry = unsafe readdir(directory) {
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
      unsafe tuple.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
        unsafe String(cString: $0)
      }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names
}

/// Removes an empty directory.
package func removeDirectory(_ path: String) throws(SystemError) {
  if unsafe rmdir(path) != 0 && errno != ENOENT { throw .last("rmdir", path) }
}

/// Whether a path, or what it links to, is a regular file.
package func isRegularFile(_ path: String) -> Bool {
  var status = stat()
  return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}

/// Reads the first bytes of a file: at most `count`, fewer when the file is shorter.
package func firstBytes(of path: String, count: Int) throws(SystemError) -> [UInt8] {
  let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
  let descriptor = Int32(try retrying("open", path) { Int(unsafe open(path, flags)) })
  defer { closeFile(descriptor) }
  return try readFile(descriptor, path, count, at: 0)
}

/// Makes a file, for reading and writing, where there is none.
package func createFile(_ path: String) throws(SystemError) -> Int32 {
  let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
  return Int32(try retrying("open", path) { Int(unsafe open(path, flags, 0o666)) })
}

/// A file in memory, which has a path as long as this object lives; other processes have no business
/// there.
package final class MemoryFile: Sendable {
  /// The path.
  package let path: String
  private let descriptor: Int32

  private init(_ descriptor: Int32) {
    (self.descriptor, path) = (descriptor, "/proc/self/fd/\(descriptor)")
  }

  /// Makes an empty one; nil where the system has none.
  package convenience init?() {
    let descriptor = unsafe files_open_memory("memory")
    if descriptor < 0 { return nil }
    self.init(descriptor)
    if !exists(path) { return nil }
  }

  deinit { closeFile(descriptor) }
}
