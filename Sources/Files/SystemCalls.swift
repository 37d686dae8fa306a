// The system calls that are not on files. See OpenFile.swift for those on open files.

internal import CFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Returns the system's description of an `errno`.
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

  /// Whether the disk, or the quota of the process, is full.
  package var isFull: Bool { kind == .full }
  /// Whether there is no such file.
  package var isMissing: Bool { kind == .missing || kind == .notADirectory }

  /// Whether something of this name already exists.
  package var isExisting: Bool { number == EEXIST }

  /// Returns the error of the thread's last call.
  package static func last(_ call: String, _ path: String) -> SystemError {
    SystemError(call: call, path: path, number: errno)
  }
}

/// Returns the `errno` of the calling thread.
package func currentSystemError() -> Int32 { errno }

/// Returns a number for the calling process, never 0; a forked child has another one.
///
/// Complexity: constant time, without a system call.
package func currentProcess() -> UInt { UInt(files_process()) }

/// Returns a number for the calling thread, never 0, unique among living threads.
package func currentThread() -> UInt {
  #if canImport(Glibc)
    return UInt(pthread_self())
  #else
    return UInt(bitPattern: pthread_self())
  #endif
}

/// Throws if an offset exceeds the limit on file sizes (`ulimit -f`).
///
/// The system would send a signal instead, which ends the process unless it is ignored.
package func checkFileSizeLimit(
  _ end: Int, _ path: @autoclosure () -> String
) throws(SystemError) {
  guard UInt(end) > files_size_limit() else { return }
  throw SystemError(call: "getrlimit", path: path(), number: EFBIG)
}

/// Allocates disk space for a part of a file that the C library has open.
///
/// The part may be after the end of the file.
package func allocate(
  _ descriptor: Int32, _ path: String, from offset: Int, count: Int
) throws(SystemError) {
  try checkFileSizeLimit(offset + count, path)
  let number = files_allocate(descriptor, offset, count)
  if number != 0 { throw SystemError(call: "posix_fallocate", path: path, number: number) }
}

/// Closes a descriptor; traps in debug builds if it is not open.
func closeFile(_ descriptor: Int32) {
  let result = close(descriptor)
  assert(result == 0 || errno != EBADF, "A descriptor is closed that is not open: \(descriptor)")
}

/// Returns cryptographically secure random bytes.
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
