// The operating system's calls that are not on files. See OpenFile.swift for those on open files.

internal import CFiles

#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The system's words for an `errno`.
package func systemErrorText(_ number: Int32) -> String {
  guard let text = unsafe strerror(number) else { return "unknown error" }
  return unsafe String(cString: text)
}

extension SystemError {
  package enum Kind { case full, denied, missing, notADirectory, inUse, other }

  package var kind: Kind {
    switch number {
    case ENOSPC, EDQUOT, EFBIG: .full
    case EACCES, EPERM, EROFS: .denied
    case ENOENT: .missing
    case ENOTDIR: .notADirectory
    case EWOULDBLOCK: .inUse
    default: .other
    }
  }

  /// Whether the disk, or the process's share of it, is full.
  package var isFull: Bool { kind == .full }
  /// Whether there is no such file.
  package var isMissing: Bool { kind == .missing || kind == .notADirectory }

  /// Whether there is something of this name already.
  package var isExisting: Bool { number == EEXIST }

  /// The error of the thread's last call.
  package static func last(_ call: String, _ path: String) -> SystemError {
    SystemError(call: call, path: path, number: errno)
  }
}

/// The `errno` of the calling thread.
package func currentSystemError() -> Int32 { errno }

/// A number for the calling process, never 0; a child that was forked has another one.
///
/// Complexity: constant time, without a system call.
package func currentProcess() -> UInt { UInt(files_process()) }

/// A number for the calling thread, never 0, not shared by threads that are alive.
package func currentThread() -> UInt { UInt(pthread_self()) }

/// Refuses what goes past the limit on the size of files (`ulimit -f`).
///
/// The system would say so with a signal, which ends the process unless it is ignored.
package func checkFileSizeLimit(
  _ end: Int, _ path: @autoclosure () -> String
) throws(SystemError) {
  var limit = rlimit()
  guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0,
    UInt64(end) > UInt64(limit.rlim_cur)
  else { return }
  throw SystemError(call: "getrlimit", path: path(), number: EFBIG)
}

/// Makes sure that the disk has room for a part of a file that the C library has open, which may lie
/// behind its end.
package func allocate(
  _ descriptor: Int32, _ path: String, from offset: Int, count: Int
) throws(SystemError) {
  try checkFileSizeLimit(offset + count, path)
  let number = posix_fallocate(descriptor, offset, count)
  if number != 0 { throw SystemError(call: "posix_fallocate", path: path, number: number) }
}

/// Closes a descriptor, which traps in debug builds when that is not open.
func closeFile(_ descriptor: Int32) {
  let result = close(descriptor)
  assert(result == 0 || errno != EBADF, "A descriptor is closed that is not open: \(descriptor)")
}

/// Random bytes that nobody can guess.
package func randomBytes(_ count: Int) throws(SystemError) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: count)
  var filled = 0
  while filled < count {
    let start = filled
    filled += try retrying("getrandom", "") {
      unsafe bytes.withUnsafeMutableBytes {
        unsafe files_random($0.baseAddress?.advanced(by: start), UInt(count - start))
      }
    }
  }
  return bytes
}
