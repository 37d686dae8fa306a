// The operating system's calls on open files, one function for each. See SystemCalls+Names.swift
// for those on names.

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

/// Repeats a call for as long as signals interrupt it.
package func retrying(
  _ call: String, _ path: @autoclosure () -> String, _ body: () -> Int
) throws(SystemError) -> Int {
  try failIfPlanned(call, path())
  while true {
    let result = body()
    if result >= 0 {
      noteDone(call, path())
      return result
    }
    // Before anything else runs that may set it.
    let number = errno
    if number != EINTR { throw SystemError(call: call, path: path(), number: number) }
  }
}

/// The size of an open file.
package func fileSize(_ descriptor: Int32, _ path: String) throws(SystemError) -> Int {
  var status = stat()
  _ = try retrying("fstat", path) { Int(unsafe fstat(descriptor, &status)) }
  return Int(status.st_size)
}

/// Makes sure that a file still has a name: what is written to one without is lost.
package func checkFileHasName(_ descriptor: Int32, _ path: String) throws(SystemError) {
  let count = try retrying("statx", path) { Int(files_link_count(descriptor)) }
  if count == 0 { throw SystemError(call: "statx", path: path, number: ENOENT) }
}

/// Reads into an array until it is full or the file ends.
package func readFile(
  _ descriptor: Int32, _ path: String, _ count: Int, at offset: Int
) throws(SystemError) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: count)
  var done = 0
  while done < count {
    let part = try retrying("pread", path) {
      unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress?.advanced(by: done), count - done, offset + done)
      }
    }
    if part == 0 { break }
    done += part
  }
  return done == count ? bytes : Array(bytes[..<done])
}

/// Refuses what goes past the limit on the size of files (`ulimit -f`).
///
/// The system would say so with a signal, which ends the process unless it is ignored.
package func checkFileSizeLimit(_ end: Int, _ path: String) throws(SystemError) {
  var limit = rlimit()
  guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0,
    UInt64(end) > UInt64(limit.rlim_cur)
  else { return }
  throw SystemError(call: "getrlimit", path: path, number: EFBIG)
}

/// Writes all bytes of an array.
package func writeFile(
  _ descriptor: Int32, _ path: String, _ bytes: [UInt8], at offset: Int
) throws(SystemError) {
  try bytes.lend { (bytes) throws(SystemError) in
    try writeFile(descriptor, path, bytes, at: offset)
  }
}

/// Writes all bytes that are lent.
package func writeFile(
  _ descriptor: Int32, _ path: String, _ bytes: RawSpan, at offset: Int
) throws(SystemError) {
  try checkFileSizeLimit(offset + bytes.byteCount, path)
  try writeWithinLimit(descriptor, path, bytes, at: offset)
}

/// Writes all bytes that are lent, where the limit on the size of files is known to allow it.
package func writeWithinLimit(
  _ descriptor: Int32, _ path: String, _ bytes: RawSpan, at offset: Int
) throws(SystemError) {
  var done = 0
  while done < bytes.byteCount {
    done += try retrying("pwrite", path) {
      unsafe bytes.withUnsafeBytes {
        unsafe pwrite(
          descriptor, $0.baseAddress?.advanced(by: done), $0.count - done, offset + done)
      }
    }
  }
}

/// Sets the size of an open file.
///
/// What is added is written with zeros, not only set aside: room that was never written makes the
/// file system keep books at each first write to it, which costs a sync as much again. It is
/// written in small pieces: what is written at once, Linux may keep as one large page, and go
/// through all of that at each small write to it.
package func resizeFile(
  _ descriptor: Int32, _ path: String, to size: Int
) throws(SystemError) {
  let old = try fileSize(descriptor, path)
  if size > old {
    try checkFileSizeLimit(size, path)
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    for start in stride(from: old, to: size, by: zeros.count) {
      try zeros.lend(0..<min(zeros.count, size - start)) { (piece) throws(SystemError) in
        try writeWithinLimit(descriptor, path, piece, at: start)
      }
    }
    return
  }
  _ = try retrying("ftruncate", path) { Int(ftruncate(descriptor, size)) }
}

/// Makes sure that the disk has room for a part of a file, which may lie behind its end.
package func allocate(
  _ descriptor: Int32, _ path: String, from offset: Int, count: Int
) throws(SystemError) {
  try checkFileSizeLimit(offset + count, path)
  try failIfPlanned("posix_fallocate", path)
  let number = posix_fallocate(descriptor, offset, count)
  if number != 0 { throw SystemError(call: "posix_fallocate", path: path, number: number) }
}

/// Brings the content of an open file to the disk.
package func syncData(_ descriptor: Int32, _ path: String) throws(SystemError) {
  _ = try retrying("fdatasync", path) { Int(fdatasync(descriptor)) }
}

/// Gives an open file back.
///
/// All that matters has been synced before. To give one back twice is a mistake that hits whoever
/// has got the number meanwhile, so debug builds trap.
package func closeFile(_ descriptor: Int32) {
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
