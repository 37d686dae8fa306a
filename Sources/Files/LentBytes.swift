// Bytes are passed to closures as `RawSpan`, which can't be kept. This file has the few conversions
// between `RawSpan` and arrays that the language still considers unsafe.

internal import CFiles

extension [UInt8] {
  /// Copies the bytes of a span.
  @inlinable
  package init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Appends a copy of the bytes of a span.
  ///
  /// `append(contentsOf:)` first asks its argument for its elements, which takes longer than
  /// copying a key.
  @inlinable
  package mutating func append(copying bytes: RawSpan) {
    // All empty arrays share one object of the standard library, whose count would be written here,
    // if only with the same value.
    if bytes.isEmpty { return }
    append(addingCapacity: bytes.byteCount) { target in
      unsafe target.withUnsafeMutableBufferPointer { target, count in
        let target = UnsafeMutableRawBufferPointer(target)
        unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        count = bytes.byteCount
      }
    }
  }

  /// Replaces all bytes from an index on by a copy of the bytes of a span.
  @inlinable
  package mutating func replaceAll(from start: Int, copying bytes: RawSpan) {
    guard count == start + bytes.byteCount, !bytes.isEmpty else {
      removeLast(count - start)
      return append(copying: bytes)
    }
    // Usually the number of bytes is unchanged, and no allocation is needed.
    unsafe withUnsafeMutableBytes { target in
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...])
      unsafe bytes.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
    }
  }

  /// Calls a closure with the bytes.
  @inlinable
  package func lend<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes)
  }

  /// Calls a closure with some of the bytes.
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

// Reading numbers. An offset out of bounds is a programming error and traps: code that reads a file
// checks offsets first.

extension RawSpan {
  /// Returns the byte at an offset.
  @inlinable @inline(__always)
  package func loadByte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Returns the number in two bytes.
  @inlinable @inline(__always)
  package func loadUInt16(at offset: Int, isBigEndian: Bool) -> UInt16 {
    let number = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)
    return isBigEndian ? UInt16(bigEndian: number) : UInt16(littleEndian: number)
  }

  /// Returns the number in four bytes.
  @inlinable @inline(__always)
  package func loadUInt32(at offset: Int, isBigEndian: Bool) -> UInt32 {
    let number = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return isBigEndian ? UInt32(bigEndian: number) : UInt32(littleEndian: number)
  }

  /// Returns the number in eight bytes.
  @inlinable @inline(__always)
  package func loadUInt64(at offset: Int, isBigEndian: Bool) -> UInt64 {
    let number = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return isBigEndian ? UInt64(bigEndian: number) : UInt64(littleEndian: number)
  }

  /// Tells the processor to read the bytes at an offset, which will be needed soon.
  package func expect(at offset: Int) {
    guard offset < byteCount else { return }
    unsafe withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe files_prefetch(start + offset)
    }
  }

  /// Tells the processor to read a range of bytes, which will be needed soon.
  @usableFromInline
  package func expect(_ range: Range<Int>) {
    let range = range.clamped(to: 0..<byteCount)
    unsafe withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      for offset in stride(from: range.lowerBound, to: range.upperBound, by: 64) {
        unsafe files_prefetch(start + offset)
      }
    }
  }
}

extension Array where Element: BitwiseCopyable {
  /// Tells the processor to read a range of elements, which will be needed soon.
  @inlinable
  package func expect(_ indices: Range<Int>) {
    let size = MemoryLayout<Element>.stride
    unsafe span.bytes.expect(indices.lowerBound * size..<indices.upperBound * size)
  }
}
