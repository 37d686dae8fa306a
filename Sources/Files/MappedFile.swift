// This is the only code that maps files into memory.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A whole file, mapped into memory for reading, or bytes in place of a file.
///
///     let file = try MappedFile(path)
///     let mark = file.withBytes { $0.firstByte }
///
/// It maps the file that had the name when it was opened, and stays valid when the name is removed
/// or given to another file. The mapping ends with the last reference to this object. Its size is
/// that of the file when it was opened.
///
/// If another process *truncates* the file while it is mapped, reading after the new end raises
/// SIGBUS, which ends the process; no check can prevent that. So the files of a store are never
/// truncated or written in place while they may be mapped: a new file is created beside the old one
/// and renamed.
///
/// Safe on any thread.
@safe
package final class MappedFile: @unchecked Sendable {
  // Sendable: both properties are constants, and nothing writes to the memory through this object.
  // It is a read-only mapping or a private copy, which only `deinit` frees.

  /// The path by which it was opened.
  package let path: String
  /// The number of bytes.
  package var count: Int { unsafe memory.count }
  /// The bytes; without a base address if there are none.
  @usableFromInline package let memory: UnsafeRawBufferPointer
  /// Whether the memory is a mapping, and not a copy.
  private let isMapped: Bool
  /// The descriptor that holds the lock, if the file is locked.
  private let lockedDescriptor: Int32?

  /// Maps a regular file.
  ///
  /// - Parameters:
  ///   - address: The file.
  ///   - isLocked: Whether to exclude, during the lifetime of this object, processes that lock the
  ///     file for writing, as Tokyo Cabinet does. It has no effect on file systems without such
  ///     locks.
  /// - Throws: `SystemError`; with `EISDIR` for a directory, `ENODEV` for anything else that is not
  ///   a regular file, and of the kind `inUse` if the file is locked for writing.
  package init(_ address: some FileAddress, isLocked: Bool = false) throws(SystemError) {
    path = address.location.path
    isMapped = true
    let file = try openFile(address, O_RDONLY | O_NONBLOCK)
    do {
      if isLocked { try file.lockForReading() }
      unsafe memory = try Self.map(file)
    } catch {
      file.close()
      throw error
    }
    if !isLocked { file.close() }
    lockedDescriptor = isLocked ? file.descriptor : nil
  }

  private static func map(_ file: OpenFile) throws(SystemError) -> UnsafeRawBufferPointer {
    let status = try FileStatus(file)
    guard status.isRegular else {
      throw SystemError(
        call: "open", path: file.location.path, number: status.isDirectory ? EISDIR : ENODEV)
    }
    let count = status.size
    guard count > 0 else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    var map: UnsafeMutableRawPointer?
    _ = try file.location.fileSystem.perform(.map, on: file.location.path) {
      unsafe map = mmap(nil, count, PROT_READ, MAP_SHARED, file.descriptor, 0)
      return unsafe map == MAP_FAILED ? -1 : 0
    }
    return unsafe UnsafeRawBufferPointer(start: map, count: count)
  }

  /// Copies bytes, which can then be read like a file.
  package init(copying bytes: [UInt8], path: String = "memory") {
    self.path = path
    isMapped = false
    lockedDescriptor = nil
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    unsafe copy.copyBytes(from: bytes)
    unsafe memory = UnsafeRawBufferPointer(copy)
  }

  deinit {
    if let lockedDescriptor { closeFile(lockedDescriptor) }
    if !isMapped { return unsafe memory.deallocate() }
    guard let start = unsafe memory.baseAddress else { return }
    // The memory is unmapped in pieces, because meanwhile no thread of the process can allocate
    // memory from the system. For 200 MB at once that takes 50 ms, which a concurrent save would
    // wait for. Small pieces cost a store that is opened and closed 4 us each.
    for offset in stride(from: 0, to: count, by: Self.unmappedPiece) {
      let piece = min(Self.unmappedPiece, count - offset)
      _ = unsafe munmap(UnsafeMutableRawPointer(mutating: start + offset), piece)
    }
  }

  /// A multiple of every common page size.
  private static let unmappedPiece = 16 << 20

  /// Calls a closure with all bytes.
  ///
  /// Complexity: constant time; bytes are read from the disk when they are first used.
  @inlinable @inline(__always)
  package func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(memory.bytes)
  }

  /// Frees memory that holds a part of the file.
  ///
  /// Reading that part again takes it from the system's cache, or from the disk. Only whole pages
  /// are freed.
  package func release(_ range: Range<Int>) {
    guard isMapped, let start = unsafe memory.baseAddress else { return }
    let pageSize = 1 << 14
    let first = (range.lowerBound + pageSize - 1) & ~(pageSize - 1)
    let last = min(range.upperBound, count) & ~(pageSize - 1)
    guard first < last else { return }
    _ = unsafe madvise(
      UnsafeMutableRawPointer(mutating: start + first), last - first, MADV_DONTNEED)
  }

  /// Frees the memory of a part that has been read, if it is large.
  ///
  /// So a value that is copied from there does not take its size twice.
  package func releaseIfLarge(_ range: Range<Int>) {
    if range.count >= 16 << 20 { release(range) }
  }

  /// The expected access pattern, by which the system decides about reading ahead.
  package enum Access: Sendable { case sequential, random, normal }

  /// Tells the system the expected access pattern; a hint, which can't fail.
  package func expect(_ access: Access) {
    guard isMapped, let start = unsafe memory.baseAddress else { return }
    let advice =
      switch access {
      case .sequential: MADV_SEQUENTIAL
      case .random: MADV_RANDOM
      case .normal: MADV_NORMAL
      }
    _ = unsafe madvise(UnsafeMutableRawPointer(mutating: start), memory.count, Int32(advice))
  }
}
