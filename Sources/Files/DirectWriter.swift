internal import CFiles

#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Writes to a file past the system's cache, each write durable when it returns (`O_DIRECT` with
/// `O_DSYNC`): one call where writing and syncing are two, and a tenth quicker than both.
///
/// The disk takes whole blocks. So the block that was written last is kept, and written again with
/// what comes behind it; what follows in its last block becomes zero.
///
/// One thread at a time.
///
/// `@unchecked Sendable`: the buffer is this object's alone, and callers keep to one thread at a
/// time.
@safe package final class DirectWriter: @unchecked Sendable {
  /// A multiple of the block size of nearly all disks; others refuse, and are written otherwise.
  private static let blockSize = 4096
  /// How far ahead the limit on the size of files is asked for.
  private static let limitStep = 1 << 16

  private let file: OpenFile
  private var buffer = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// Which block of the file the buffer begins with, or nil for none.
  private var blockStart: Int?
  /// Up to where the limit on the size of files is known to let us write.
  private var limitChecked = 0

  /// Opens an open file once more; nil where its file system or its disk does not offer this, or
  /// the name leads to another file now.
  package init?(_ other: OpenFile) {
    let location = other.location
    guard
      let opened = try? location.fileSystem.perform(
        .openDirect, on: location.path,
        { Int(unsafe files_open_direct(location.descriptor, location.name)) })
    else { return nil }
    file = OpenFile(Int32(opened), location)
    guard let known = try? FileStatus(other).identity,
      (try? FileStatus(file).identity) == known
    else { return nil }
  }

  deinit {
    file.close()
    unsafe buffer.deallocate()
  }

  /// Forgets the last block, because somebody else has written to the file.
  package func forget() { blockStart = nil }

  /// Writes bytes, and zeros up to the end of the last block.
  ///
  /// - Parameters:
  ///   - bytes: what to write.
  ///   - offset: where in the file.
  ///   - read: reads what stands in the file before them, so many bytes from an offset.
  /// - Returns: false, with nothing written, if the disk wants larger blocks.
  /// - Throws: ``SystemError``; what `read` throws.
  package func write(
    _ bytes: [UInt8], at offset: Int,
    read: (_ count: Int, _ offset: Int) throws(SystemError) -> [UInt8]
  ) throws(SystemError) -> Bool {
    let start = offset / Self.blockSize * Self.blockSize
    let end = offset + bytes.count
    let endOfBlocks = (end + Self.blockSize - 1) / Self.blockSize * Self.blockSize
    if endOfBlocks > limitChecked {
      try checkFileSizeLimit(endOfBlocks + Self.limitStep, file.location.path)
      limitChecked = endOfBlocks + Self.limitStep
    }
    if blockStart != start {
      let prefix = try read(offset - start, start)
      makeRoom(prefix.count)
      unsafe buffer.copyBytes(from: prefix)
    }
    blockStart = nil
    put(bytes, at: offset - start, upTo: endOfBlocks - start)
    guard try writeBuffer(endOfBlocks - start, at: start) else { return false }
    keepLastBlock(from: end / Self.blockSize * Self.blockSize - start)
    blockStart = end / Self.blockSize * Self.blockSize
    return true
  }

  private func put(_ bytes: [UInt8], at offset: Int, upTo end: Int) {
    makeRoom(end)
    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyBytes(from: bytes)
    let rest = unsafe UnsafeMutableRawBufferPointer(
      rebasing: buffer[(offset + bytes.count)..<end])
    _ = unsafe rest.initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// Makes the buffer as large as this at least; what is in it stays.
  private func makeRoom(_ count: Int) {
    guard unsafe count > buffer.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(count, 2 * Self.blockSize) / Self.blockSize * Self.blockSize + Self.blockSize,
      alignment: Self.blockSize)
    unsafe larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
    unsafe buffer.deallocate()
    unsafe buffer = larger
  }

  private func writeBuffer(_ count: Int, at offset: Int) throws(SystemError) -> Bool {
    var done = 0
    while done < count {
      do throws(SystemError) {
        let range = offset + done..<offset + count
        let part = try file.location.fileSystem.perform(.write, range, on: file.location.path) {
          unsafe pwrite(
            file.descriptor, buffer.baseAddress?.advanced(by: done), count - done, offset + done)
        }
        if part == 0 {
          throw SystemError(call: FileCall.write.rawValue, path: file.location.path, number: EIO)
        }
        done += part
      } catch {
        if error.number == EINVAL && done == 0 { return false }
        throw error
      }
    }
    return true
  }

  private func keepLastBlock(from offset: Int) {
    guard offset > 0, unsafe offset < buffer.count else { return }
    let last = unsafe UnsafeRawBufferPointer(
      rebasing: buffer[offset..<min(offset + Self.blockSize, buffer.count)])
    unsafe buffer.copyMemory(from: last)
  }
}
