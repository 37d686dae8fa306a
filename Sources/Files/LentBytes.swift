// Bytes are lent as `RawSpan`, which can't be kept. The few steps between it and arrays that the
// language still calls unsafe stand here.

extension [UInt8] {
  /// Copies bytes that are lent.
  @inlinable
  package init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Appends a copy of bytes that are lent.
  ///
  /// `append(contentsOf:)` asks what it is given for its elements first, and takes longer for a key
  /// than for copying it.
  @inlinable
  package mutating func append(copying bytes: RawSpan) {
    // An empty array of the library, which all share, would have its count written, if only as it
    // is.
    if bytes.isEmpty { return }
    append(addingCapacity: bytes.byteCount) { target in
      unsafe target.withUnsafeMutableBufferPointer { target, count in
        let target = UnsafeMutableRawBufferPointer(target)
        unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        count = bytes.byteCount
      }
    }
  }

  /// Puts a copy of bytes that are lent in the place of all from an index on.
  @inlinable
  package mutating func replaceAll(from start: Int, copying bytes: RawSpan) {
    guard count == start + bytes.byteCount, !bytes.isEmpty else {
      removeLast(count - start)
      return append(copying: bytes)
    }
    // Most often as many as there were, which takes no other room.
    unsafe withUnsafeMutableBytes { target in
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...])
      unsafe bytes.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
    }
  }

  /// Lends the bytes.
  @inlinable
  package func lend<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes)
  }

  /// Lends some of the bytes.
  @inlinable
  package func lend<Result, Failure: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes.extracting(range))
  }
}

extension RawSpan {
  /// The first byte, or nil.
  @inlinable package var firstByte: UInt8? {
    isEmpty ? nil : unsafe unsafeLoad(fromByteOffset: 0, as: UInt8.self)
  }
}

// Numbers in lent bytes. An offset that leads out of the bytes is a mistake of the caller and
// traps: whoever reads a file checks its offsets first.

extension RawSpan {
  /// The byte at an offset.
  @inlinable @inline(__always)
  package func loadByte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// The number in two bytes.
  @inlinable @inline(__always)
  package func loadUInt16(at offset: Int, isBigEndian: Bool) -> UInt16 {
    let number = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)
    return isBigEndian ? UInt16(bigEndian: number) : UInt16(littleEndian: number)
  }

  /// The number in four bytes.
  @inlinable @inline(__always)
  package func loadUInt32(at offset: Int, isBigEndian: Bool) -> UInt32 {
    let number = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return isBigEndian ? UInt32(bigEndian: number) : UInt32(littleEndian: number)
  }

  /// The number in eight bytes.
  @inlinable @inline(__always)
  package func loadUInt64(at offset: Int, isBigEndian: Bool) -> UInt64 {
    let number = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return isBigEndian ? UInt64(bigEndian: number) : UInt64(littleEndian: number)
  }
}
