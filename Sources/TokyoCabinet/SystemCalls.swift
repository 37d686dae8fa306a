// The operating system's calls of this module. Nothing else here names them.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A number for the calling thread, never 0, not shared by threads that are alive.
func currentThread() -> UInt {
  #if canImport(Darwin)
    unsafe UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

/// The system's words for an `errno`.
func systemErrorText(_ number: Int32) -> String {
  guard let text = unsafe strerror(number) else { return "unknown error" }
  return unsafe String(cString: text)
}

/// The `errno` of the calling thread.
func currentSystemError() -> Int32 { errno }

/// Makes sure that the disk has room for a part of a file, which may lie behind its end.
///
/// - Returns: 0, or an `errno`.
func allocate(_ descriptor: Int32, from offset: Int64, count: Int64) -> Int32 {
  #if canImport(Darwin)
    ftruncate(descriptor, off_t(offset + count)) == 0 ? 0 : errno
  #else
    posix_fallocate(descriptor, off_t(offset), off_t(count))
  #endif
}

/// Whether an `errno` means that the disk, or the process's share of it, is full.
func meansFull(_ number: Int32) -> Bool {
  number == ENOSPC || number == EDQUOT || number == EFBIG
}

/// Which file a path leads to, and its size.
struct FileStatus: Sendable {
  var identity: FileIdentity
  var size: Int64
}

/// A file, whatever path leads to it.
struct FileIdentity: Hashable, Sendable {
  var device: UInt64
  var inode: UInt64
}

/// Examines a file; nil when there is none, or it can't be reached.
func fileStatus(_ path: String) -> FileStatus? {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { return nil }
  let identity = FileIdentity(
    device: UInt64(truncatingIfNeeded: status.st_dev),
    inode: UInt64(truncatingIfNeeded: status.st_ino))
  return FileStatus(identity: identity, size: Int64(status.st_size))
}

/// Reads the first bytes of a file: at most `count`, fewer when the file is shorter.
///
/// - Throws: the `errno` as a ``SystemError``.
func firstBytes(of path: String, count: Int) throws(SystemError) -> [UInt8] {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else { throw SystemError(number: errno) }
  defer { _ = close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: count)
  while true {
    let got = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, count, 0)
    }
    if got < 0 && errno == EINTR { continue }
    guard got >= 0 else { throw SystemError(number: errno) }
    return Array(bytes.prefix(got))
  }
}

/// An `errno`.
struct SystemError: Error {
  let number: Int32
  /// Whether there is no such file.
  var isMissing: Bool { number == ENOENT || number == ENOTDIR }
}
