/// A buffer of fixed size that collects bytes to be written at once.
///
/// Check ``room`` before appending, once for everything that belongs together; each append is then
/// a mere copy.
///
/// Use it from one thread at a time.
@safe
package struct WriteBuffer: ~Copyable {
  @usableFromInline let memory: UnsafeMutableRawBufferPointer
  @usableFromInline var end = 0
  /// The number of bytes in the buffer.
  @inlinable package var count: Int { end }

  /// Allocates the memory.
  package init(capacity: Int) {
    unsafe memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  /// The number of bytes that can still be appended.
  @inlinable package var room: Int { unsafe memory.count - end }

  /// Appends a copy of bytes; there must be room for them.
  @inlinable
  package mutating func append(_ bytes: RawSpan) {
    precondition(bytes.byteCount <= room, "no room")
    let start = end
    unsafe bytes.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress, let target = unsafe memory.baseAddress else {
        return
      }
      unsafe (target + start).copyMemory(from: source, byteCount: bytes.count)
    }
    end = start + bytes.byteCount
  }

  /// Appends an integer, least significant byte first; there must be room for it.
  @inlinable
  package mutating func append(littleEndian number: UInt64) {
    precondition(room >= 8, "no room")
    unsafe memory.storeBytes(of: number.littleEndian, toByteOffset: end, as: UInt64.self)
    end += 8
  }

  /// Removes the bytes appended last.
  package mutating func removeLast(_ count: Int) {
    precondition(count <= end, "there is less")
    end -= count
  }

  /// Removes all bytes, and keeps the memory.
  package mutating func removeAll() { end = 0 }

  /// Calls a closure with all bytes.
  package func lend<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawBufferPointer(rebasing: memory[..<end]).bytes)
  }
}

extension [UInt64] {
  /// Calls a closure with the bytes of all numbers, as they are in memory.
  package func lendBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes)
  }
}
