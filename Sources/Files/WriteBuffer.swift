/// Bytes that are gathered to be written at once, in memory of a fixed size.
///
/// Whoever appends asks first whether there is ``room``, once for all that belongs together; each
/// append is a copy then, and no more.
///
/// One thread at a time.
@safe
package struct WriteBuffer: ~Copyable {
  @usableFromInline let memory: UnsafeMutableRawBufferPointer
  @usableFromInline var end = 0
  /// How many bytes there are.
  @inlinable package var count: Int { end }

  /// Sets memory aside.
  package init(capacity: Int) {
    unsafe memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  /// How many bytes can still be appended.
  @inlinable package var room: Int { unsafe memory.count - end }

  /// Appends a copy of bytes, for which there must be room.
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

  /// Appends an integer with its least significant byte first; there must be room.
  @inlinable
  package mutating func append(littleEndian number: UInt64) {
    precondition(room >= 8, "no room")
    unsafe memory.storeBytes(of: number.littleEndian, toByteOffset: end, as: UInt64.self)
    end += 8
  }

  /// Takes back what was appended last.
  package mutating func removeLast(_ count: Int) {
    precondition(count <= end, "there is less")
    end -= count
  }

  /// Forgets all bytes; the memory stays.
  package mutating func removeAll() { end = 0 }

  /// Lends all bytes.
  package func lend<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawBufferPointer(rebasing: memory[..<end]).bytes)
  }
}

extension [UInt64] {
  /// Lends the bytes of all numbers, as they are in memory.
  package func lendBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes)
  }
}
