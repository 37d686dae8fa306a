// The system calls on open files, one function each. See SystemCalls+Names.swift for those on
// names.

internal import CFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// An open file or directory, which is not closed automatically.
package struct OpenFile: Sendable {
  let descriptor: Int32
  /// The location at which it was opened.
  package let location: FileLocation

  init(_ descriptor: Int32, _ location: FileLocation) {
    (self.descriptor, self.location) = (descriptor, location)
  }

  private func perform(
    _ call: FileCall, _ range: Range<Int>? = nil, _ body: () -> Int
  ) throws(SystemError) -> Int {
    try location.fileSystem.perform(call, range, on: location.path, body)
  }

  /// Closes the file.
  ///
  /// Important content has been synced before. Closing a file twice could close another file that
  /// has reused the descriptor, so debug builds trap.
  package func close() { closeFile(descriptor) }

  /// Returns the size of the file.
  package func size() throws(SystemError) -> Int { try FileStatus(self).size }

  /// Throws if the file has no name any more, because writes to it would be lost.
  package func checkHasName() throws(SystemError) {
    let count = try perform(.linkCount) { Int(files_link_count(descriptor)) }
    if count == 0 {
      throw SystemError(call: FileCall.linkCount.rawValue, path: location.path, number: ENOENT)
    }
  }

  // MARK: Bytes

  /// Reads bytes until the array is full or the file ends.
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

  /// Writes all bytes of a span.
  package func write(_ bytes: RawSpan, at offset: Int) throws(SystemError) {
    try checkFileSizeLimit(offset + bytes.byteCount, location.path)
    try writeWithinLimit(bytes, at: offset)
  }

  /// Writes all bytes of a span, without checking the limit on file sizes.
  package func writeWithinLimit(_ bytes: RawSpan, at offset: Int) throws(SystemError) {
    var done = 0
    while done < bytes.byteCount {
      let part = try perform(.write, offset + done..<offset + bytes.byteCount) {
        unsafe bytes.withUnsafeBytes {
          unsafe pwrite(
            descriptor, $0.baseAddress?.advanced(by: done), $0.count - done, offset + done)
        }
      }
      if part == 0 {
        throw SystemError(call: FileCall.write.rawValue, path: location.path, number: EIO)
      }
      done += part
    }
  }

  /// Sets the size of the file.
  ///
  /// New space is filled with zeros, and not only reserved: the first write to reserved space
  /// changes metadata of the file system, which doubles the cost of a sync. The zeros are written
  /// in small pieces, because Linux may keep a large write as one large page, and process all of it
  /// at each small write to it.
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

  /// Appends the content of another file at the current position, without reading it.
  ///
  /// File systems that can do so share the content between both files, or copy it on the server.
  func append(_ source: OpenFile, byteCount: Int) throws(SystemError) {
    var rest = byteCount
    while rest > 0 {
      guard let part = try copyRange(source, byteCount: rest) else { break }
      // Some file systems report the end of a file that is not there.
      if part == 0 { break }
      rest -= part
    }
    while rest > 0 {
      let part = try perform(.copy) {
        files_send(descriptor, source.descriptor, UInt(rest))
      }
      if part == 0 {
        throw SystemError(call: FileCall.copy.rawValue, path: location.path, number: EIO)
      }
      rest -= part
    }
  }

  /// Copies a part of another file, at the current positions of both.
  ///
  /// - Returns: The number of bytes; nil if the system can't copy between these files this way.
  private func copyRange(_ source: OpenFile, byteCount: Int) throws(SystemError) -> Int? {
    do throws(SystemError) {
      return try perform(.copyRange) {
        files_copy_range(descriptor, source.descriptor, UInt(byteCount))
      }
    } catch {
      let unknown = [EXDEV, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL, EPERM, EBADF]
      let isUnknown = unknown.contains(error.number)
      if isUnknown { return nil }
      throw error
    }
  }

  // MARK: The disk

  /// Lets the system begin to write a part to the disk, without waiting (`sync_file_range`).
  ///
  /// The part is not durable before a sync, which also reports errors of the disk.
  package func startWriting(_ range: Range<Int>) {
    _ = try? perform(.startWriting) {
      Int(files_start_writing(descriptor, range.lowerBound, range.count))
    }
  }

  /// Syncs the file (`fsync`, or `F_FULLFSYNC` on macOS).
  package func synchronize() throws(SystemError) {
    _ = try perform(.sync) { Int(files_sync(descriptor)) }
  }

  /// Syncs the content of the file (`fdatasync`).
  package func synchronizeData() throws(SystemError) {
    _ = try perform(.syncData) { Int(files_sync_data(descriptor)) }
  }

  // MARK: Locks

  /// Whether the file is on a network file system.
  ///
  /// Its locks and memory maps may not reach processes on other machines.
  package func isRemote() throws(SystemError) -> Bool {
    try perform(.status) { Int(files_is_remote(descriptor)) } == 1
  }

  /// Locks the file, shared or exclusively, without waiting.
  func lock(shared: Bool) throws(SystemError) {
    _ = try perform(.lock) { Int(flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB)) }
  }

  /// Unlocks the file, also for a forked child process that has not executed another program yet.
  func unlock() { _ = flock(descriptor, LOCK_UN) }

  /// Locks the file exclusively, and waits for the lock.
  ///
  /// It has no effect on file systems without such locks. The lock ends when the file is closed, at
  /// the latest with the process.
  func lockAlone() { _ = try? perform(.lock) { Int(flock(descriptor, LOCK_EX)) } }

  /// Locks one byte of the file, shared or exclusively, without waiting.
  ///
  /// The lock belongs to this opening of the file, and ends with it (`F_OFD_SETLK`).
  ///
  /// - Returns: false if another opening has a conflicting lock.
  package func lock(byte: Int, shared: Bool = false) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try perform(.lockForReading) { Int(files_lock_byte(descriptor, byte, shared ? 1 : 2)) }
      return true
    } catch {
      if error.number == EAGAIN || error.number == EACCES { return false }
      throw error
    }
  }

  /// Releases the lock on a byte.
  package func unlock(byte: Int) { _ = files_lock_byte(descriptor, byte, 0) }

  /// Whether another opening has a lock on a byte.
  package func isLocked(byte: Int) throws(SystemError) -> Bool {
    try perform(.lockForReading) { Int(files_byte_is_locked(descriptor, byte)) } == 1
  }

  /// Locks the file against processes that lock it for writing, if the file system supports it.
  ///
  /// It uses `F_OFD_SETLK`.
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
