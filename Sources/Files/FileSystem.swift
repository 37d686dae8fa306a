#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The one way to the file system: under the log, sorted tables, class files and constant databases
/// alike.
///
/// A ``FileLocation`` carries its file system, and so do open files and directories. All functions on
/// them (open, create, rename, remove, list, sync, lock, map) make their calls of the operating
/// system through ``perform(_:_:on:_:)``: ``SystemFiles`` just makes them. In its place tests put a
/// file system that counts calls, fails any of them with any `errno`, or loses power. Files stay
/// files of the operating system there, so that maps, locks and the C library work as for users.
///
/// The C library of Tokyo Cabinet opens and writes the new files it is handed by itself, without
/// calling this; they are synced through it before anybody relies on them.
///
/// Safe on any threads.
package protocol FileSystem: AnyObject, Sendable {
  /// Makes a call, again for as long as signals interrupt it.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - range: The bytes that it reads from the file or writes to it; nil for all other calls.
  ///   - path: The file or directory, as errors name it.
  ///   - body: Makes the call once; a negative result is a failure, with its `errno`.
  /// - Returns: what the call has returned.
  /// - Throws: ``SystemError``.
  func perform(
    _ call: FileCall, _ range: Range<Int>?, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int
}

extension FileSystem {
  /// Makes a call that neither reads nor writes bytes of a file.
  func perform(
    _ call: FileCall, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int {
    try perform(call, nil, on: path(), body)
  }
}

/// The calls of the operating system on files, by the names of the C functions.
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
  case copy = "sendfile"
  case truncate = "ftruncate"
  case sync = "fsync"
  case syncData = "fdatasync"
}

/// The file system of the operating system.
package final class SystemFiles: FileSystem {
  /// The one there is.
  package static let shared = SystemFiles()

  private init() {}

  package func perform(
    _ call: FileCall, _ range: Range<Int>?, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int {
    try retrying(call.rawValue, path(), body)
  }
}

/// Repeats a call for as long as signals interrupt it.
func retrying(
  _ call: @autoclosure () -> String, _ path: @autoclosure () -> String, _ body: () -> Int
) throws(SystemError) -> Int {
  while true {
    let result = body()
    if result >= 0 { return result }
    // Before anything else runs that may set it.
    let number = errno
    if number != EINTR { throw SystemError(call: call(), path: path(), number: number) }
  }
}
