// The one place that maps files into memory.

#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A whole file, mapped into memory for reading, or bytes that stand in for one.
///
///     let file = try MappedFile(path)
///     let mark = file.withBytes { $0.firstByte }
///
/// The map is of the file that had the name when it was opened, and stays valid when the name goes
/// to another file or is removed. It ends with the last reference to this object. Its size is that
/// of the moment of opening.
///
/// When another process *cuts* the file while it is mapped, reading behind the new end raises
/// SIGBUS, which ends the process: no check can prevent it. So the files of a store are never cut
/// or written in place while they may be mapped: a new file is made beside the old one and renamed.
///
/// Safe on any thread.
@safe
package final class MappedFile: @unchecked Sendable {
  // Sendable: both properties are constants, and nobody writes to the memory through this object.
  // It is a read-only map, or a private copy, that only `deinit` gives back.

  /// The path it was opened by.
  package let path: String
  /// The number of bytes.
  package var count: Int { unsafe memory.count }
  /// Where the bytes are; no base address when there are none.
  @usableFromInline package let memory: UnsafeRawBufferPointer
  /// Whether the memory is a map, and not a copy.
  private let isMapped: Bool
  /// Has the lock, if the file is locked.
  private let lockedDescriptor: Int32?

  /// Maps a regular file.
  ///
  /// - Parameters:
  ///   - address: The file.
  ///   - isLocked: Whether those are kept out, as long as this object lives, who lock the file for
  ///     writing, as Tokyo Cabinet does. Where the file system has no such locks there is none.
  /// - Throws: `SystemError`; with `EISDIR` for a directory, `ENODEV` for what else is no regular
  ///   file, and of the kind `inUse` when somebody has locked the file for writing.
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

  /// Copies bytes, to be read as if they were a file's.
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
    // In pieces: until one is gone, no thread of the process can allocate memory from the system.
    // For 200 MB at once that takes 50 ms, which a save beside it would wait for.
    for offset in stride(from: 0, to: count, by: Self.unmappedPiece) {
      let piece = min(Self.unmappedPiece, count - offset)
      _ = unsafe munmap(UnsafeMutableRawPointer(mutating: start + offset), piece)
    }
  }

  /// A multiple of the size of a page, whatever that is.
  private static let unmappedPiece = 4 << 20

  /// Lends all bytes.
  ///
  /// Complexity: constant time; bytes come from the disk when they are first read.
  @inlinable
  package func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(memory.bytes)
  }

  /// Lets go of memory that holds a part of the file; reading that part again takes it from the
  /// system's cache, or the disk.
  ///
  /// Only whole pages are let go of.
  package func release(_ range: Range<Int>) {
    guard isMapped, let start = unsafe memory.baseAddress else { return }
    let pageSize = 1 << 14
    let first = (range.lowerBound + pageSize - 1) & ~(pageSize - 1)
    let last = min(range.upperBound, count) & ~(pageSize - 1)
    guard first < last else { return }
    _ = unsafe madvise(
      UnsafeMutableRawPointer(mutating: start + first), last - first, MADV_DONTNEED)
  }

  /// Lets go of the memory of a part that has been read, if it is so large that it matters.
  ///
  /// A value that is copied from there then doesn't take its size twice.
  package func releaseIfLarge(_ range: Range<Int>) {
    if range.count >= 16 << 20 { release(range) }
  }

  /// What a reader is going to do, so that the system can read ahead, or not.
  package enum Access: Sendable { case sequential, random, normal }

  /// Tells the system how the bytes are going to be read; a hint, which can't fail.
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
