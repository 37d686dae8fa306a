// The operating system's calls on open files, one function for each. See SystemCalls+Names.swift
// for those on names.

internal import CFiles

#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// An open file, or an open directory, which is not closed by itself.
package struct OpenFile: Sendable {
  let descriptor: Int32
  /// Where it was opened.
  package let location: FileLocation

  init(_ descriptor: Int32, _ location: FileLocation) {
    (self.descriptor, self.location) = (descriptor, location)
  }

  private func perform(
    _ call: FileCall, _ range: Range<Int>? = nil, _ body: () -> Int
  ) throws(SystemError) -> Int {
    try location.fileSystem.perform(call, range, on: location.path, body)
  }

  /// Closes it.
  ///
  /// All that matters has been synced before. Closing one twice could close another file, which has
  /// got the same number meanwhile, so debug builds trap.
  package func close() { closeFile(descriptor) }

  /// The size of the file.
  package func size() throws(SystemError) -> Int { try FileStatus(self).size }

  /// Makes sure that the file still has a name: what is written to one without is lost.
  package func checkHasName() throws(SystemError) {
    let count = try perform(.linkCount) { Int(files_link_count(descriptor)) }
    if count == 0 {
      throw SystemError(call: FileCall.linkCount.rawValue, path: location.path, number: ENOENT)
    }
  }

  // MARK: Bytes

  /// Reads into an array until it is full or the file ends.
  package func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let part = try perform(.read, offset + done..<offset + count) {
        unsafe bytes.withUnsafeMutableBytes {
          unsafe pread(descriptor, $0.baseAddress?.advanced(by: done), count - done, offset + done)
        }
      }
      if part == 0 { break }
      done += part
    }
    return done == count ? bytes : Array(bytes[..<done])
  }

  /// Writes all bytes that are lent.
  package func write(_ bytes: RawSpan, at offset: Int) throws(SystemError) {
    try checkFileSizeLimit(offset + bytes.byteCount, location.path)
    try writeWithinLimit(bytes, at: offset)
  }

  /// Writes all bytes that are lent, where the limit on the size of files is known to allow it.
  package func writeWithinLimit(_ bytes: RawSpan, at offset: Int) throws(SystemError) {
    var done = 0
    while done < bytes.byteCount {
      done += try perform(.write, offset + done..<offset + bytes.byteCount) {
        unsafe bytes.withUnsafeBytes {
          unsafe pwrite(
            descriptor, $0.baseAddress?.advanced(by: done), $0.count - done, offset + done)
        }
      }
    }
  }

  /// Sets the size of the file.
  ///
  /// What is added is written with zeros, not only set aside: room that was never written makes the
  /// file system keep books at each first write to it, which costs a sync as much again. It is
  /// written in small pieces: what is written at once, Linux may keep as one large page, and go
  /// through all of that at each small write to it.
  package func resize(to size: Int) throws(SystemError) {
    let old = try self.size()
    if size > old {
      try checkFileSizeLimit(size, location.path)
      let zeros = [UInt8](repeating: 0, count: 1 << 16)
      for start in stride(from: old, to: size, by: zeros.count) {
        try zeros.lend(0..<min(zeros.count, size - start)) { (piece) throws(SystemError) in
          try writeWithinLimit(piece, at: start)
        }
      }
      return
    }
    _ = try perform(.truncate) { Int(ftruncate(descriptor, size)) }
  }

  /// Appends the content of another file at where writing has got to, without reading it.
  func append(_ source: OpenFile, byteCount: Int) throws(SystemError) {
    var rest = byteCount
    while rest > 0 {
      let part = try perform(.copy) { sendfile(descriptor, source.descriptor, nil, rest) }
      if part == 0 {
        throw SystemError(call: FileCall.copy.rawValue, path: location.path, number: EIO)
      }
      rest -= part
    }
  }

  // MARK: The disk

  /// Brings the file to the disk (`fsync`).
  package func synchronize() throws(SystemError) {
    _ = try perform(.sync) { Int(fsync(descriptor)) }
  }

  /// Brings the content of the file to the disk (`fdatasync`).
  package func synchronizeData() throws(SystemError) {
    _ = try perform(.syncData) { Int(fdatasync(descriptor)) }
  }

  // MARK: Locks

  /// Whether it is on a file system of another machine, whose locks and memory maps may not reach
  /// processes there.
  package func isRemote() throws(SystemError) -> Bool {
    try perform(.status) { Int(files_is_remote(descriptor)) } == 1
  }

  /// Locks it, shared or alone, without waiting.
  func lock(shared: Bool) throws(SystemError) {
    _ = try perform(.lock) { Int(flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB)) }
  }

  /// Unlocks it, also for a child process that has been forked and not executed yet.
  func unlock() { _ = flock(descriptor, LOCK_UN) }

  /// Locks the file alone, and waits for that; where the file system has no such locks there is
  /// none.
  ///
  /// It ends when the file is closed, at the latest with the process.
  func lockAlone() { _ = try? perform(.lock) { Int(flock(descriptor, LOCK_EX)) } }

  /// Locks one byte of the file alone, or shared with others, without waiting.
  ///
  /// The lock is that of this opening of the file, and ends with it. `F_OFD_SETLK`.
  ///
  /// - Returns: False when another opening has a lock that is in the way.
  package func lock(byte: Int, shared: Bool = false) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try perform(.lockForReading) { Int(files_lock_byte(descriptor, byte, shared ? 1 : 2)) }
      return true
    } catch {
      if error.number == EAGAIN || error.number == EACCES { return false }
      throw error
    }
  }

  /// Ends a lock on a byte.
  package func unlock(byte: Int) { _ = files_lock_byte(descriptor, byte, 0) }

  /// Whether another opening has a lock on a byte.
  package func isLocked(byte: Int) throws(SystemError) -> Bool {
    try perform(.lockForReading) { Int(files_byte_is_locked(descriptor, byte)) } == 1
  }

  /// Locks the file against those who lock it for writing, where the file system can do that.
  ///
  /// `F_OFD_SETLK`.
  func lockForReading() throws(SystemError) {
    do throws(SystemError) {
      _ = try perform(.lockForReading) { Int(files_lock_shared(descriptor)) }
    } catch {
      if error.number == EAGAIN || error.number == EACCES {
        throw SystemError(call: error.call, path: error.path, number: EWOULDBLOCK)
      }
    }
  }
}
