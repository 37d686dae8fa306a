// The operating system's calls of this module. Nothing else here names them.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// An `errno`, and the call it came from.
struct SystemError: Error, CustomStringConvertible {
  let call: String
  let number: Int32

  /// The error of the last call of this thread.
  static func last(_ call: String) -> SystemError { SystemError(call: call, number: errno) }

  var isMissing: Bool { number == ENOENT }
  var isNotADirectory: Bool { number == ENOTDIR }
  var isDenied: Bool { number == EACCES || number == EPERM || number == EROFS }
  var wouldBlock: Bool { number == EWOULDBLOCK }
  var isFull: Bool { number == ENOSPC || number == EDQUOT || number == EFBIG }

  var description: String {
    let text = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "unknown error"
    return "\(call): \(text), errno \(number)"
  }
}

/// Repeats a call while it is interrupted by signals.
private func retrying(_ call: String, _ body: () -> Int32) throws(SystemError) -> Int32 {
  while true {
    let result = body()
    if result >= 0 { return result }
    if errno != EINTR { throw .last(call) }
  }
}

/// Makes a directory and those above it that are missing; one that is there already is fine.
func makeDirectories(_ path: String) throws(SystemError) {
  if unsafe mkdir(path, 0o777) == 0 || errno == EEXIST { return }
  let error = SystemError.last("mkdir")
  let parent = directoryName(path)
  guard error.isMissing, parent != path else { throw error }
  try makeDirectories(parent)
  if unsafe mkdir(path, 0o777) != 0 && errno != EEXIST { throw .last("mkdir") }
  try syncDirectory(parent)
}

/// The directory that a path lies in.
private func directoryName(_ path: String) -> String {
  var path = Substring(path)
  while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// A path without symbolic links and dots.
func realPath(_ path: String) throws(SystemError) -> String {
  guard let resolved = unsafe realpath(path, nil) else { throw .last("realpath") }
  defer { unsafe free(resolved) }
  return unsafe String(cString: resolved)
}

/// Brings the names in a directory to the disk.
func syncDirectory(_ path: String) throws(SystemError) {
  let descriptor = try openDirectory(path)
  defer { closeDescriptor(descriptor) }
  try syncDescriptor(descriptor)
}

/// Opens a directory; not inherited by child processes.
func openDirectory(_ path: String) throws(SystemError) -> Int32 {
  try retrying("open") { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
}

/// `fsync`.
func syncDescriptor(_ descriptor: Int32) throws(SystemError) {
  _ = try retrying("fsync") { fsync(descriptor) }
}

/// `close`, whose error would say nothing about a directory.
func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

/// Locks an open directory, shared or alone, without waiting.
func lockDescriptor(_ descriptor: Int32, shared: Bool) throws(SystemError) {
  _ = try retrying("flock") { flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) }
}

/// Whether there is a file, or anything else, of this path.
func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

/// Gives a file a new name, replacing a file that has it.
func renameFile(_ old: String, _ new: String) throws(SystemError) {
  if unsafe rename(old, new) != 0 { throw .last("rename") }
}

/// Removes a file; one that isn't there is fine.
func removeFile(_ path: String) throws(SystemError) {
  if unsafe unlink(path) != 0 && errno != ENOENT { throw .last("unlink") }
}

/// The names of the entries of a directory, in no order.
func directoryEntries(_ path: String) throws(SystemError) -> [String] {
  guard let directory = unsafe opendir(path) else { throw .last("opendir") }
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

/// A lock that many readers or one writer can hold.
///
/// Waiting writers go before new readers.
///
/// `@unchecked Sendable`: the pointer is set once and freed in `deinit`; what it points to is made
/// for use by several threads.
@safe final class ReadWriteLock: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_rwlock_t>

  init() {
    unsafe lock = .allocate(capacity: 1)
    var attributes = pthread_rwlockattr_t()
    unsafe pthread_rwlockattr_init(&attributes)
    #if canImport(Glibc)
      // Without this, readers in turn could keep a commit waiting for ever.
      unsafe pthread_rwlockattr_setkind_np(
        &attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
    #endif
    unsafe pthread_rwlock_init(lock, &attributes)
    unsafe pthread_rwlockattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_rwlock_destroy(lock)
    unsafe lock.deallocate()
  }

  /// Runs a closure beside other readers.
  func reading<Result>(_ body: () throws -> Result) rethrows -> Result {
    unsafe pthread_rwlock_rdlock(lock)
    defer { unlock() }
    return try body()
  }

  /// Waits until nobody else holds the lock, and takes it.
  func lockForWriting() { unsafe pthread_rwlock_wrlock(lock) }

  /// Ends ``lockForWriting()``.
  func unlock() { unsafe pthread_rwlock_unlock(lock) }
}
