#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The only access to the file system.
///
/// The log, ordered tables, class files and constant databases all use it.
///
/// A ``FileLocation`` has a file system, and so do open files and directories. All functions on
/// them (open, create, rename, remove, list, sync, lock, map) make their system calls through
/// ``perform(_:_:on:_:)``. ``SystemFiles`` simply makes the calls. Tests replace it by a file
/// system that counts calls, fails any of them with any `errno`, or loses power. The files are
/// still files of the operating system, so that maps, locks and the C library work as they do for
/// users.
///
/// The C library of Tokyo Cabinet opens and writes its new files by itself, without this protocol;
/// they are synced through it before they are used.
///
/// Safe on any thread.
package protocol FileSystem: AnyObject, Sendable {
  /// Performs a call, and repeats it as long as signals interrupt it.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - range: The bytes of the file that it reads or writes; nil for all other calls.
  ///   - path: The file or directory, for errors.
  ///   - body: Makes the call once; a negative result is a failure, with its `errno`.
  /// - Returns: The result of the call.
  /// - Throws: ``SystemError``.
  func perform(
    _ call: FileCall, _ range: Range<Int>?, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int
}

extension FileSystem {
  /// Performs a call that neither reads nor writes bytes of a file.
  func perform(
    _ call: FileCall, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int {
    try perform(call, nil, on: path(), body)
  }
}

/// The system calls on files, with the names of the C functions.
package enum FileCall: String, Sendable, CaseIterable {
  case open = "openat"
  /// `openat` with `O_CREAT`.
  case create = "openat, O_CREAT"
  /// `openat` with `O_DIRECT`.
  case openDirect = "openat, O_DIRECT"
  case exists = "faccessat"
  case find = "fstatat"
  case status = "fstat"
  case linkCount = "statx"
  case resolve = "realpath"
  case list = "readdir"
  case makeDirectory = "mkdirat"
  case rename = "renameat"
  case exchange = "renameat2"
  case remove = "unlinkat"
  /// `unlinkat` with `AT_REMOVEDIR`.
  case removeDirectory = "unlinkat, AT_REMOVEDIR"
  case setMode = "fchmod"
  case lock = "flock"
  /// `fcntl` with `F_OFD_SETLK`.
  case lockForReading = "fcntl"
  case map = "mmap"
  case read = "pread"
  case write = "pwrite"
  case copyRange = "copy_file_range"
  case copy = "sendfile"
  case truncate = "ftruncate"
  case startWriting = "sync_file_range"
  case sync = "fsync"
  case syncData = "fdatasync"
}

/// The file system of the operating system.
package final class SystemFiles: FileSystem {
  /// The only instance.
  package static let shared = SystemFiles()

  private init() {}

  package func perform(
    _ call: FileCall, _ range: Range<Int>?, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int {
    try retrying(call.rawValue, path(), body)
  }
}

/// Repeats a call as long as signals interrupt it.
func retrying(
  _ call: @autoclosure () -> String, _ path: @autoclosure () -> String, _ body: () -> Int
) throws(SystemError) -> Int {
  while true {
    let result = body()
    if result >= 0 { return result }
    // Read `errno` before any other code can change it.
    let number = errno
    if number != EINTR { throw SystemError(call: call(), path: path(), number: number) }
  }
}
